/** Name of the fault point at which this process kills itself. Set by crash tests only. */
const armed = process.env.FAULT_POINT;

/** Kills the process, as a power failure does, if `FAULT_POINT` names this point. */
export function fault(point: string): void {
  if (point === armed) process.kill(process.pid, 'SIGKILL');
}
