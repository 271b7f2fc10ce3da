import type { Handler } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import { success } from '../success.ts';

/** Audits the ledger. It reads all entries, so only one audit runs at a time. */
export const auditBooks: Handler<'auditBooks'> = async (request, reply) => {
  reply.json(200, success(await runReport(request, 'auditLedger', null)));
};
