/** Epoch milliseconds from when the process began, counted by a clock that never steps: tasks go by it. */
export function steadyClock(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}
