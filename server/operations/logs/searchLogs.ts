import { Failure } from '../../failure.ts';
import type { Handler, ResponseBody } from '../../http/handler.ts';
import { BusyError } from '../../outbound/slots.ts';
import type { FoundEntry } from '../../store/queries/log-search.ts';
import { readPage } from '../read-page.ts';

type LogItem = ResponseBody<'searchLogs', 200>['data']['items'][number];

/** The entries of the request log that are about the caller's user, the newest first. */
export const searchLogs: Handler<'searchLogs'> = async ({ gateway, caller, query, signal }, reply) => {
  const leave = await gateway.searches.take(caller.userId, signal).catch((error: unknown) => {
    throw error instanceof BusyError ? busy(error) : error;
  });
  try {
    const { entries, total } = await gateway.store.report('searchLog', {
      userId: caller.userId,
      keyword: query.keyword ?? '',
      ...readPage(query),
    });
    reply.json(200, { success: true, message: '', data: { items: entries.map(viewEntry), total } });
  } finally {
    leave();
  }
};

function viewEntry({ unit, units, ...entry }: FoundEntry): LogItem {
  return {
    id: entry.id,
    user_id: entry.user_id,
    // Models that do not count tokens take their input in their own unit, seconds perhaps not whole.
    prompt_tokens: unit === 'tokens' ? entry.prompt_tokens : Math.round(units),
    completion_tokens: entry.completion_tokens,
    quota: entry.quota,
    created_at: entry.created_at,
    token_name: entry.token_name,
    model_name: entry.model_name,
    request_id: entry.request_id,
  };
}

const busy = (cause: BusyError) =>
  new Failure(503, 'store_unavailable', 'Too many searches are under way. Repeat later.', {
    retryAfter: 1,
    cause,
  });
