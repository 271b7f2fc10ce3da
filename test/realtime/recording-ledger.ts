import { findModel } from '../../server/models/catalogue.ts';
import type { Connection } from '../../server/sockets/connection.ts';

/** Ledger of one socket in memory. Each unit costs 1, and the quota is unlimited. */
export class RecordingLedger {
  /** Reservations, charges and refunds. */
  entries: string[] = [];
  /** Operation of each log entry. */
  readonly operations: string[] = [];
  readonly connection: Connection;

  constructor(model: string) {
    const record = (entry: string) => void this.entries.push(entry);
    const callQuota = {
      reserve: async ({ requestId, amount }: { requestId: string; amount: number }) => {
        record(`${requestId} reserved ${amount}`);
        return 'reserved';
      },
      extend: async ({ to }: { to: number }) => {
        record(`reserved ${to}`);
        return 'extended';
      },
      settle: async ({ charged, log }: { charged: number; log: { operation: string } }) => {
        this.operations.push(log.operation);
        record(`charged ${charged}`);
        return { charged, debt: 0 };
      },
      refund: async () => {
        record('refunded');
        return true;
      },
    };
    const prices = { terms: () => ({ unitPrice: 1, rule: null, groupRatio: 1, configRevision: null }) };
    const logger = { warn: () => record('warned') };
    const gateway = { callQuota, prices, logger, timers: { monotonic: () => 0 } };
    const caller = { tokenId: 1, userId: 1 };
    const connection = { gateway, key: { caller }, model: findModel(model), requestId: 'r1', startedAt: 0 };
    this.connection = connection as unknown as Connection;
  }

  /** Returns and removes the entries since the last call. */
  takeEntries(): string[] {
    return this.entries.splice(0);
  }
}
