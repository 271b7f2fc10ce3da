import type { NewClip } from '../../server/store/commands/clips.ts';
import type { NewTask } from '../../server/store/commands/new-tasks.ts';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';
import type { Store } from '../../server/store/store.ts';

/** A due time that never comes. */
const never = Number.MAX_SAFE_INTEGER;

/** The columns that depend on the kind of task. */
export type SeededTaskKind = Pick<
  NewTask,
  'operation' | 'format' | 'driver' | 'model' | 'unit' | 'channel' | 'facts'
>;

/** Inserts tasks into a store without an upstream. */
export class TaskSeeder {
  readonly #store: Store;
  readonly #userId: number;
  readonly #tokenId: number;
  readonly #kind: SeededTaskKind;

  private constructor(store: Store, userId: number, tokenId: number, kind: SeededTaskKind) {
    this.#store = store;
    this.#userId = userId;
    this.#tokenId = tokenId;
    this.#kind = kind;
  }

  static async create(store: Store, userId: number, kind: SeededTaskKind): Promise<TaskSeeder> {
    const key = generateKey();
    const hashed = { keyHash: hashKey(key), keyHint: keyHint(key) };
    const token = { userId, name: 'seeder', ...hashed, unlimitedQuota: true, now: Date.now() };
    const { id } = await store.run('createToken', token);
    return new TaskSeeder(store, userId, id, kind);
  }

  /** Inserts a task that the upstream has accepted and the gateway does not poll. */
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
      unitPrice: 0,
      groupRatio: 1,
      group: 'default',
      configRevision: 'revision',
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

  /** Completes a task with a result. */
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
