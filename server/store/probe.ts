import { StoreUnavailable } from './unavailable.ts';

/** The store must answer within so many milliseconds. */
export const probeLimit = 2_000;
/** A good answer is believed so long, in milliseconds: anybody may ask, and on SQLite asking is a write. */
const believed = 500;

/** Finds out whether the store works, however many ask at the same time. */
export class Probe {
  readonly #ask: () => Promise<unknown>;
  #asking: Promise<void> | undefined;
  #goodUntil = 0;

  constructor(ask: () => Promise<unknown>) {
    this.#ask = ask;
  }

  /** @throws StoreUnavailable when it does not work, or does not say so in time. */
  async check(): Promise<void> {
    if (performance.now() < this.#goodUntil) return;
    this.#asking ??= this.#ask()
      .then(
        () => {
          this.#goodUntil = performance.now() + believed;
        },
        (error: unknown) => {
          throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
        },
      )
      .finally(() => {
        this.#asking = undefined;
      });
    await inTime(this.#asking);
  }
}

async function inTime(answer: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new StoreUnavailable(new Error(`no answer within ${probeLimit} ms`))),
    probeLimit,
  );
  try {
    await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
