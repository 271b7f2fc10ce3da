import type { WebSocket } from 'ws';
import type { Alarm, Timers } from '../../server/lib/timers.ts';

/** A clock that only `advance` moves, and its alarms. */
export class ManualTimers implements Timers {
  /** Epoch milliseconds. */
  now = 1_795_000_000_000;
  readonly monotonic = (): number => this.now;
  readonly #due = new Map<Alarm, { at: number; ring: () => void }>();

  alarm(ms: number, ring: () => void): Alarm {
    const alarm: Alarm = {
      refresh: () => void this.#due.set(alarm, { at: this.now + ms, ring }),
      cancel: () => void this.#due.delete(alarm),
    };
    alarm.refresh();
    return alarm;
  }

  /** Number of alarms that are not due yet. */
  get pending(): number {
    return this.#due.size;
  }

  /** Moves the clock. Due alarms ring in order. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = [...this.#due].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (next === undefined) break;
      const [alarm, { at, ring }] = next;
      this.now = at;
      this.#due.delete(alarm);
      ring();
    }
    this.now = end;
  }
}

/** Advances the clock in steps of 15 s and delivers all frames in flight after each step. */
export async function elapse(timers: ManualTimers, ms: number, sockets: () => WebSocket[]): Promise<void> {
  const step = 15_000;
  for (let left = ms; left > 0; left -= step) {
    timers.advance(Math.min(step, left));
    await flushFrames(sockets());
  }
}

/** Waits until all frames in flight and the replies to them have arrived. */
export async function flushFrames(sockets: WebSocket[]): Promise<void> {
  const open = sockets.filter(({ readyState, OPEN }) => readyState === OPEN);
  for (let round = 0; round < 2; round += 1) await Promise.all(open.map(ping));
}

/** Resolves when the peer has answered a ping or has disconnected. */
function ping(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('pong', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('pong', done);
    socket.on('close', done);
    if (socket.readyState === socket.OPEN) socket.ping();
    else done();
  });
}
