import type { WebSocket } from 'ws';
import type { Alarm, Timers } from '../../server/lib/timers.ts';

/** A clock that moves only when told, and the alarms set by it. */
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

  /** How many alarms have not rung. */
  get pending(): number {
    return this.#due.size;
  }

  /** Moves the clock, ringing what comes due in order. */
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

/** Lets time pass in steps, with all frames that are on their way delivered in between. */
export async function elapse(timers: ManualTimers, ms: number, sockets: () => WebSocket[]): Promise<void> {
  const step = 15_000;
  for (let left = ms; left > 0; left -= step) {
    timers.advance(Math.min(step, left));
    await delivered(sockets());
  }
}

/** Resolves when all that is on its way on the sockets has arrived, answers to it included. */
export async function delivered(sockets: WebSocket[]): Promise<void> {
  const open = sockets.filter(({ readyState, OPEN }) => readyState === OPEN);
  for (let round = 0; round < 2; round += 1) await Promise.all(open.map(thereAndBack));
}

/** Resolves when the other side has answered a ping, or is gone. */
function thereAndBack(socket: WebSocket): Promise<void> {
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
