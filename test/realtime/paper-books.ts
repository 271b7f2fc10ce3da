import { findModel } from '../../server/models/catalogue.ts';
import type { Connection } from '../../server/sockets/connection.ts';

/** The books of one socket on paper: one quota a unit, and whatever is asked for is there. */
export class PaperBooks {
  /** What was held, paid and given back. */
  entries: string[] = [];
  /** The operation that stands in the log. */
  readonly operations: string[] = [];
  readonly connection: Connection;

  constructor(model: string) {
    const note = (entry: string) => void this.entries.push(entry);
    const ledger = {
      reserve: async ({ requestId, amount }: { requestId: string; amount: number }) => {
        note(`${requestId} holds ${amount}`);
        return 'reserved';
      },
      extend: async ({ to }: { to: number }) => {
        note(`holds ${to}`);
        return 'extended';
      },
      settle: async ({ charged, log }: { charged: number; log: { operation: string } }) => {
        this.operations.push(log.operation);
        note(`paid ${charged}`);
        return { charged, debt: 0 };
      },
      refund: async () => {
        note('given back');
        return true;
      },
    };
    const prices = { terms: () => ({ unitPrice: 1, groupRatio: 1, configRevision: null }) };
    const logger = { warn: () => note('warned') };
    const gateway = { callQuota: ledger, prices, logger, timers: { monotonic: () => 0 } };
    const caller = { tokenId: 1, userId: 1 };
    const connection = { gateway, key: { caller }, model: findModel(model), requestId: 'r1', startedAt: 0 };
    this.connection = connection as unknown as Connection;
  }

  /** What was noted since the last look. */
  look(): string[] {
    return this.entries.splice(0);
  }
}
