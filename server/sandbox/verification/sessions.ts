import { randomBytes } from 'node:crypto';
import type { Records, Storage } from '../storage.ts';
import type { Triggers } from '../triggers.ts';
import { VerifiedGroups } from '../verified-groups.ts';

/** What the end user may choose on the page. */
export type Decision = 'approve' | 'reject';

/** A session as it is kept. Times are milliseconds since the epoch. */
interface SessionRecord {
  readonly callbackUrl: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly triggers: Triggers;
  result?: { decision: Decision; at: number; code: number; groupId?: string };
}

export interface Session extends SessionRecord {
  /** Its token, too, which is all that the page asks for. */
  readonly id: string;
  /** How often it was asked about since the start. */
  polls: number;
}

export type SessionStatus = 'pending' | 'verified' | 'failed' | 'expired';

const lifetime = 30 * 60_000;
/** How long sessions are known after their end. */
const retentionMs = 24 * 60 * 60_000;
/** The result codes of the page. */
const codes = { passed: 10_000, rejected: 10_001, mismatch: 10_002 };

/** Live-person checks, of which each can be decided once. */
export class VerificationSessions {
  readonly #now: () => number;
  readonly #groups: VerifiedGroups;
  readonly #records: Records<SessionRecord>;
  /** In the order in which they were made. */
  readonly #sessions: Map<string, Session>;

  constructor({ storage, now }: { storage: Storage; now: () => number }) {
    this.#now = now;
    this.#groups = new VerifiedGroups(storage);
    this.#records = storage.records('verification session');
    this.#sessions = new Map(this.#records.all().map(([id, record]) => [id, { ...record, id, polls: 0 }]));
  }

  /** `callbackUrl` is empty where the browser is to stay. */
  add(callbackUrl: string, triggers: Triggers): Session {
    this.#forgetOld();
    const createdAt = this.#now();
    const record = {
      callbackUrl,
      createdAt,
      expiresAt: triggers.has('expire') ? createdAt + 1_000 : createdAt + lifetime,
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

  /** Takes the end user's word, the first time and while there is time. */
  decide(session: Session, decision: Decision): void {
    if (this.statusOf(session) !== 'pending') return;
    const at = this.#now();
    const code = this.#judge(session, decision);
    session.result = {
      decision,
      at,
      code,
      ...(code === codes.passed && { groupId: this.#groups.add(at) }),
    };
    const { id, polls: _, ...record } = session;
    this.#records.put(id, record);
  }

  #judge({ triggers }: Session, decision: Decision): number {
    if (decision === 'reject') return codes.rejected;
    return triggers.has('fail-late') ? codes.mismatch : codes.passed;
  }

  #forgetOld(): void {
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
