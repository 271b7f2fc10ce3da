/** The place at which this process is to die, for crash tests only: undefined in ordinary life. */
const armed = process.env.FAULT_POINT;

/** Kills the process, as a power cut would, when `FAULT_POINT` names this place. */
export function fault(point: string): void {
  if (point === armed) process.kill(process.pid, 'SIGKILL');
}
