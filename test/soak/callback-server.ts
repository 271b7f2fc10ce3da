import { setTimeout as delay } from 'node:timers/promises';
import { type Received, Receiver } from '../deliveries/receiver.ts';
import { taskEnd } from './task-requests.ts';

/** Every Nth delivery gets a 500, or no response at all. */
const rejectedEvery = 7;
const droppedEvery = 11;

/** A callback receiver that sometimes fails. It accepts a delivery at the second attempt. */
export class CallbackServer {
  readonly #receiver: Receiver;
  /** Ids of the deliveries with the end of a task, by path of the receiver. */
  readonly #ends = new Map<string, Set<string>>();
  readonly #failed = new Set<string>();
  #count = 0;
  #urls = 0;

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
    receiver.answer = (delivery, response) => {
      receiver.seen.length = 0;
      this.#count += 1;
      const fails = !this.#failed.has(delivery.id);
      if (fails && this.#count % rejectedEvery === 0) response.writeHead(500).end();
      else if (fails && this.#count % droppedEvery === 0) response.destroy();
      else {
        response.writeHead(204).end();
        return this.#recordEnd(delivery);
      }
      this.#failed.add(delivery.id);
    };
  }

  static async start(): Promise<CallbackServer> {
    return new CallbackServer(await Receiver.start());
  }

  /** Returns a new callback URL. */
  createUrl(): string {
    this.#urls += 1;
    return this.#receiver.url(`/${this.#urls}`);
  }

  /** Waits up to `ms` for a callback at each URL. Returns the tasks without exactly one. */
  async faults(urls: ReadonlyMap<string, string>, ms: number): Promise<string[]> {
    const deadline = performance.now() + ms;
    const endsOf = (url: string) => this.#ends.get(new URL(url).pathname)?.size ?? 0;
    while ([...urls.keys()].some((url) => endsOf(url) === 0) && performance.now() < deadline)
      await delay(200);
    return [...urls].flatMap(([url, task]) => {
      const ends = endsOf(url);
      if (ends === 1) return [];
      return [ends === 0 ? `${task}: no callback at its end` : `${task}: ${ends} callbacks at its end`];
    });
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  /** Records a delivery with the end of a task. Retries have the same id. */
  #recordEnd({ path, id, text }: Received): void {
    if (taskEnd(text) === undefined) return;
    const ids = this.#ends.get(path) ?? new Set();
    this.#ends.set(path, ids.add(id));
  }
}
