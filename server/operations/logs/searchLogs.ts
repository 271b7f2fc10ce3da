import type { Handler, ResponseBody } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { runReport } from '../../http/run-report.ts';
import { viewerOf } from '../../keys/caller.ts';
import { invalid } from '../../lib/failure.ts';
import { appliedRuleOf } from '../../quota/charge-explanation.ts';
import { isSandboxChannel } from '../../settings/sandbox-names.ts';
import type { FoundEntry } from '../../store/queries/log-search.ts';
import { success } from '../success.ts';

type LogItem = ResponseBody<'searchLogs', 200>['data']['items'][number];

/** Searches the entries of the request log that the caller sees, newest first. */
export const searchLogs: Handler<'searchLogs'> = async (request, reply) => {
  const { caller, query } = request;
  const { start, end, model, state, token_id: tokenId, after } = query;
  if (start !== undefined && end !== undefined && end <= start)
    throw invalid('end', `must be later than start, which is ${start}.`);
  const { entries, total } = await runReport(request, 'searchLog', {
    ...viewerOf(caller),
    keyword: query.keyword ?? '',
    start,
    end,
    model,
    state,
    tokenId,
    after,
    ...readPage(query),
  });
  reply.json(200, success({ items: entries.map(viewEntry), total }));
};

function viewEntry(found: FoundEntry): LogItem {
  const { units, channel, price_rule, token_id: _token, operation: _operation, ...others } = found;
  const { status: _status, error_code: _code, ...entry } = others;
  // For models that are not billed by tokens, the number of their own units, rounded.
  const prompt_tokens = entry.unit === 'tokens' ? entry.prompt_tokens : Math.round(units);
  return {
    ...entry,
    prompt_tokens,
    price_rule: appliedRuleOf({ price_rule }),
    sandbox: isSandboxChannel(channel),
  };
}
