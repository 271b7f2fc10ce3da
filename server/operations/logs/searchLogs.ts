import type { Handler, ResponseBody } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { viewerOf } from '../../keys/caller.ts';
import { invalid } from '../../lib/failure.ts';
import type { FoundEntry } from '../../store/queries/log-search.ts';
import { success } from '../success.ts';

type LogItem = ResponseBody<'searchLogs', 200>['data']['items'][number];

/** Searches the entries of the request log that the caller sees, newest first. */
export const searchLogs: Handler<'searchLogs'> = async (request, reply) => {
  const { caller, query } = request;
  const { start, end } = query;
  if (start !== undefined && end !== undefined && end <= start)
    throw invalid('end', `must be later than start, which is ${start}.`);
  const { entries, total } = await runReport(request, 'searchLog', {
    ...viewerOf(caller),
    keyword: query.keyword ?? '',
    start,
    end,
    ...readPage(query),
  });
  reply.json(200, success({ items: entries.map(viewEntry), total }));
};

function viewEntry({ unit, units, ...entry }: FoundEntry): LogItem {
  return {
    id: entry.id,
    user_id: entry.user_id,
    // For models that are not billed by tokens, the number of their own units, rounded.
    prompt_tokens: unit === 'tokens' ? entry.prompt_tokens : Math.round(units),
    completion_tokens: entry.completion_tokens,
    quota: entry.quota,
    debt: entry.debt,
    created_at: entry.created_at,
    token_name: entry.token_name,
    model_name: entry.model_name,
    request_id: entry.request_id,
    task_id: entry.task_id,
    state: entry.state,
    unit_price: entry.unit_price,
    group_ratio: entry.group_ratio,
    refunded: entry.refunded,
  };
}
