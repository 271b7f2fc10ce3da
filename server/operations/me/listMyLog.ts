import type { Handler, OperationRequest } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { isUsable, keyRefused } from '../../keys/key-cache.ts';
import { invalid } from '../../lib/failure.ts';
import { appliedRuleOf } from '../../quota/charge-explanation.ts';
import { type OwnLogFilter, ownLogHeader } from '../../store/queries/own-log.ts';
import { findToken } from '../../store/queries/tokens.ts';
import { success } from '../success.ts';
import { accountViewer } from './accounts.ts';

type Request = OperationRequest<'listMyLog'>;

/** Lists a page of the log that the caller sees, or exports all of it as CSV. */
export const listMyLog: Handler<'listMyLog'> = async (request, reply) => {
  const { query, headers } = request;
  const filter = await filterOf(request);
  const format = query.format ?? (/\btext\/csv\b/i.test(headers.accept ?? '') ? 'csv' : 'json');
  if (format === 'csv') {
    const lines = linesOf(request, filter);
    // Before the response starts, a failure can still be reported with its status.
    const first = await lines.next();
    await reply.stream(200, 'text/csv', startingWith(first, lines), {
      'content-disposition': 'attachment; filename="log.csv"',
    });
    return;
  }
  const { limit } = readPage({ page_size: query.page_size });
  const { entries, hasMore } = await runReport(request, 'listOwnLog', { ...filter, limit });
  const items = entries.map((entry) => ({ ...entry, price_rule: appliedRuleOf(entry) }));
  reply.json(200, success({ items, last_id: entries.at(-1)?.id ?? null, has_more: hasMore }));
};

async function filterOf(request: Request): Promise<OwnLogFilter> {
  const { query } = request;
  const { since: start, until: end, after, model, state, token_id: tokenId, member_id: memberId } = query;
  if (start !== undefined && end !== undefined && end <= start)
    throw invalid('until', `must be later than since, which is ${start}.`);
  const viewer = await accountViewer(request, query.account_id);
  return { ...viewer, start, end, after, model, state, tokenId, memberId };
}

async function* linesOf(request: Request, filter: OwnLogFilter): AsyncGenerator<Buffer, undefined> {
  let header = ownLogHeader;
  for (let after = filter.after; ; ) {
    await requireUsableKey(request);
    const { text, last } = await runReport(request, 'ownLogLines', { ...filter, after });
    yield Buffer.from(header + text);
    if (last === undefined) return;
    header = '';
    after = last;
  }
}

/** Ends a long export when its key is revoked. @throws Failure 401 */
async function requireUsableKey({ gateway, caller }: Request): Promise<void> {
  const token = await findToken(gateway.store.read, caller.tokenId);
  if (token === undefined || !isUsable(token, gateway.clock())) throw keyRefused();
}

async function* startingWith<T>(first: IteratorResult<T, undefined>, rest: AsyncGenerator<T, undefined>) {
  if (first.done !== true) yield first.value;
  yield* rest;
}
