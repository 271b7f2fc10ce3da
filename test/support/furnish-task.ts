import type { NewClip } from '../../server/store/commands/clips.ts';
import type { NewTask } from '../../server/store/commands/new-tasks.ts';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { Store } from '../../server/store/store.ts';

/** Nothing is due before it. */
const never = Number.MAX_SAFE_INTEGER;

/** What tells tasks of one kind from those of others. */
export type TaskKind = Pick<
  NewTask,
  'operation' | 'format' | 'driver' | 'model' | 'unit' | 'channel' | 'facts'
>;

/** Puts tasks into a store that no upstream has made. */
export class TaskFurnisher {
  readonly #store: Store;
  readonly #userId: number;
  readonly #tokenId: number;
  readonly #kind: TaskKind;

  private constructor(store: Store, userId: number, tokenId: number, kind: TaskKind) {
    this.#store = store;
    this.#userId = userId;
    this.#tokenId = tokenId;
    this.#kind = kind;
  }

  static async make(store: Store, userId: number, kind: TaskKind): Promise<TaskFurnisher> {
    const key = generateKey();
    const hashed = { keyHash: hashKey(key), keyHint: keyHint(key) };
    const token = { userId, name: 'furnisher', ...hashed, unlimitedQuota: true, now: Date.now() };
    const { id } = await store.run('createToken', token);
    return new TaskFurnisher(store, userId, id, kind);
  }

  /** A task that its upstream has taken and that is not polled. */
  async accept(id: string, upstreamId: string, result: object = {}): Promise<void> {
    const now = Date.now();
    await this.#store.run('createTask', {
      ...this.#kind,
      id,
      requestId: `request-of-${id}`,
      userId: this.#userId,
      tokenId: this.#tokenId,
      serviceTier: null,
      expectedUnits: 1,
      rate: 0,
      amount: 0,
      callbackUrl: null,
      idempotencyKey: null,
      fingerprint: null,
      askedAt: now,
      deadlineAt: never,
      pollInterval: 1_000,
      leaseOwner: 'a test',
      leaseUntil: now,
      now,
    });
    const accepted = { upstreamId, state: 'queued' as const, progress: 0, nextPollAt: never };
    const times = { now, dueNow: now };
    await this.#store.run('acceptTask', {
      id,
      attempt: 1,
      ...accepted,
      result: JSON.stringify(result),
      ...times,
    });
  }

  /** Ends it well. */
  async finish(id: string, result: object, clips: readonly NewClip[] = []): Promise<void> {
    const now = Date.now();
    await this.#store.run('finishTask', {
      id,
      attempt: null,
      result: JSON.stringify(result),
      clips,
      error: null,
      charge: { quota: 0, units: 1, inputTokens: 0, outputTokens: 0 },
      expiresAt: now + 86_400_000,
      now,
      dueNow: now,
    });
  }
}
