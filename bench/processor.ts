/** Which processor this is, for figures that differ between processors. */
import { existsSync, readFileSync } from 'node:fs';

/** `vendor_id`, `cpu family` and `model` of proc_cpuinfo(5): `AuthenticAMD 26 2`. Without a /proc, as outside of Linux, ''. */
export function processorName(): string {
  if (!existsSync('/proc/cpuinfo')) return '';
  const [about = ''] = readFileSync('/proc/cpuinfo', 'utf8').split('\n\n', 1);
  const of = (key: string): string => new RegExp(`^${key}\\s*: (.*)$`, 'm').exec(about)?.[1] ?? '';
  return ['vendor_id', 'cpu family', 'model'].map(of).join(' ');
}
