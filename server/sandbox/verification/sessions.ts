import { randomBytes } from 'node:crypto';
import type { Records, Storage } from '../storage.ts';
import type { Triggers } from '../triggers.ts';
import { VerifiedGroups } from '../verified-groups.ts';

/** Decisions of the end user on the page. */
export type Decision = 'approve' | 'reject';

/** A session as it is stored on disk. Times are milliseconds since the epoch. */
interface SessionRecord {
  readonly callbackUrl: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly triggers: Triggers;
  result?: { decision: Decision; at: number; code: number; groupId?: string };
}

export interface Session extends SessionRecord {
  /** Also the token of the page. */
  readonly id: string;
  /** Number of reads since the last start. */
  polls: number;
}

export type SessionStatus = 'pending' | 'verified' | 'failed' | 'expired';

const lifetimeMs = 30 * 60_000;
/** Retention time of expired sessions in milliseconds. */
const retentionMs = 24 * 60 * 60_000;
/** Result codes of the page. */
const codes = { passed: 10_000, rejected: 10_001, mismatch: 10_002 };

/** Identity verification sessions, each of which can be decided once. */
export class VerificationSessions {
  readonly #now: () => number;
  readonly #groups: VerifiedGroups;
  readonly #records: Records<SessionRecord>;
  /** In order of creation. */
  readonly #sessions: Map<string, Session>;

  constructor({ storage, now }: { storage: Storage; now: () => number }) {
    this.#now = now;
    this.#groups = new VerifiedGroups(storage);
    this.#records = storage.records('verification session');
    this.#sessions = new Map(this.#records.all().map(([id, record]) => [id, { ...record, id, polls: 0 }]));
  }

  /** Creates a session. An empty `callbackUrl` means no redirect. */
  add(callbackUrl: string, triggers: Triggers): Session {
    this.#deleteExpired();
    const createdAt = this.#now();
    const record = {
      callbackUrl,
      createdAt,
      expiresAt: triggers.has('expire') ? createdAt + 1_000 : createdAt + lifetimeMs,
      triggers,
    };
    const id = `vs_${randomBytes(24).toString('hex')}`;
    this.#records.put(id, record);
    const session = { ...record, id, polls: 0 };
    this.#sessions.set(id, session);
    return session;
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  statusOf({ result, expiresAt }: Session): SessionStatus {
    if (result !== undefined) return result.code === codes.passed ? 'verified' : 'failed';
    return this.#now() >= expiresAt ? 'expired' : 'pending';
  }

  /** Stores the decision of the end user, unless the session is decided or expired. */
  decide(session: Session, decision: Decision): void {
    if (this.statusOf(session) !== 'pending') return;
    const at = this.#now();
    const code = this.#resultCode(session, decision);
    session.result = {
      decision,
      at,
      code,
      ...(code === codes.passed && { groupId: this.#groups.add(at) }),
    };
    const { id, polls: _, ...record } = session;
    this.#records.put(id, record);
  }

  #resultCode({ triggers }: Session, decision: Decision): number {
    if (decision === 'reject') return codes.rejected;
    return triggers.has('fail-late') ? codes.mismatch : codes.passed;
  }

  #deleteExpired(): void {
    const oldest = this.#now() - retentionMs;
    const old: string[] = [];
    for (const [id, { expiresAt }] of this.#sessions) {
      if (expiresAt >= oldest) break;
      old.push(id);
    }
    for (const id of old) this.#sessions.delete(id);
    this.#records.delete(old);
  }
}
