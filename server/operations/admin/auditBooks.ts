import type { Handler } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';

/** Whether the books add up. It takes as long as there is to read, so there is one at a time. */
export const auditBooks: Handler<'auditBooks'> = async (request, reply) => {
  reply.json(200, { success: true, message: '', data: await runReport(request, 'auditLedger', null) });
};
