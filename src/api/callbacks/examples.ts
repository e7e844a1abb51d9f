/** The callback and the event that the contract's examples are about. */
export const EXAMPLE_CALLBACK_ID = 'cb_k3J9sQ2mXv7Lr0TzWb5Nd8Ha';
export const EXAMPLE_EVENT_ID = 'evt_5f2c9a0e7b314d68a1c3e5f708192a3b';
