/**
 * What a server can listen without starts at its first use, else this long after the start, milliseconds. A thread takes as much
 * of the processor as the first answers, which come before it in this way (bench/start.ts, with a catalogue).
 */
export const LATE_START_MS = 100;
