import { setTimeout as pause } from 'node:timers/promises';
import { type Received, Receiver } from '../deliveries/receiver.ts';
import { taskEnd } from './task-asks.ts';

/** Every so many deliveries one is not acknowledged, and every so many others get no answer at all. */
const refused = 7;
const dropped = 11;

/** A customer's server that is called back. Now and then it fails, and takes what it failed at the next time. */
export class Callbacks {
  readonly #receiver: Receiver;
  /** The ids under which the end of each task came, by the path it was told to. */
  readonly #ends = new Map<string, Set<string>>();
  readonly #failed = new Set<string>();
  #count = 0;
  #made = 0;

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
    receiver.answer = (delivery, response) => {
      receiver.seen.length = 0;
      this.#count += 1;
      const fails = !this.#failed.has(delivery.id);
      if (fails && this.#count % refused === 0) response.writeHead(500).end();
      else if (fails && this.#count % dropped === 0) response.destroy();
      else {
        response.writeHead(204).end();
        return this.#note(delivery);
      }
      this.#failed.add(delivery.id);
    };
  }

  static async start(): Promise<Callbacks> {
    return new Callbacks(await Receiver.start());
  }

  /** An address that nothing has been told to yet. */
  hook(): string {
    this.#made += 1;
    return this.#receiver.url(`/${this.#made}`);
  }

  /** What is wrong with the ends that these were told, after as many milliseconds at most. */
  async faults(hooks: ReadonlyMap<string, string>, ms: number): Promise<string[]> {
    const until = performance.now() + ms;
    const endsOf = (hook: string) => this.#ends.get(new URL(hook).pathname)?.size ?? 0;
    while ([...hooks.keys()].some((hook) => endsOf(hook) === 0) && performance.now() < until)
      await pause(200);
    return [...hooks].flatMap(([hook, task]) => {
      const ends = endsOf(hook);
      if (ends === 1) return [];
      return [
        ends === 0 ? `${task}: nobody was called back at its end` : `${task}: ${ends} callbacks of its end`,
      ];
    });
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  /** One that comes again has the id that it had. */
  #note({ path, id, text }: Received): void {
    if (taskEnd(text) === undefined) return;
    const ids = this.#ends.get(path) ?? new Set();
    this.#ends.set(path, ids.add(id));
  }
}
