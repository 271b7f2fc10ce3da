import type { Handler, OperationRequest } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import { isUsable, keyRefused } from '../../keys/key-cache.ts';
import { csvHeader, type ExportFormat, type ExportRange } from '../../store/queries/log-export.ts';
import { findToken, hasAdminAccess } from '../../store/queries/tokens.ts';

type Request = OperationRequest<'exportLogs'>;

const mediaTypes = { csv: 'text/csv', jsonl: 'application/jsonl' } as const;

/** Exports the request log as a file. It reads a page at a time, and only as fast as the client. */
export const exportLogs: Handler<'exportLogs'> = async (request, reply) => {
  const { query } = request;
  const format = query.format ?? formatOf(request.headers.accept);
  const range = await runReport(request, 'exportRange', { after: query.after ?? 0 });
  const lines = pages(request, range, format);
  // Before the response starts, a failure can still be reported with its status.
  const first = await lines.next();
  await reply.stream(200, mediaTypes[format], startingWith(first, lines), {
    'content-disposition': `attachment; filename="requests.${format}"`,
  });
};

const formatOf = (accept = ''): ExportFormat => (/\btext\/csv\b/i.test(accept) ? 'csv' : 'jsonl');

async function* pages(
  request: Request,
  { after, upTo }: ExportRange,
  format: ExportFormat,
): AsyncGenerator<Buffer, undefined> {
  const { user_id: userId, token_id: tokenId, request_id: requestId, task_id: taskId } = request.query;
  const { model, channel, operation, status, errors, since, until } = request.query;
  const ids = { userId, tokenId, memberId: request.query.member_id, requestId, taskId };
  const filter = { ...ids, model, channel, operation, status, errors, since, until };
  let text = format === 'csv' ? csvHeader : '';
  for (let last = after; last < upTo; ) {
    const from = last;
    await requireStillAdmin(request);
    const page = await runReport(request, 'exportPage', { after: from, upTo, format, filter });
    ({ last } = page);
    text += page.text;
    if (text !== '') yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

/** Ends a long export when its key loses its rights. @throws Failure 401 */
async function requireStillAdmin({ gateway, caller }: Request): Promise<void> {
  const token = await findToken(gateway.store.read, caller.tokenId);
  if (token === undefined || !hasAdminAccess(token) || !isUsable(token, gateway.clock())) throw keyRefused();
}

async function* startingWith<T>(first: IteratorResult<T, undefined>, rest: AsyncGenerator<T, undefined>) {
  if (first.done !== true) yield first.value;
  yield* rest;
}
