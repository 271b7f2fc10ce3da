import type { components } from '../../../generated/http.ts';
import type { Handler } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import { invalid } from '../../lib/failure.ts';
import { addFigures, atMost, type Figures, mostGroups, noFigures } from '../../store/queries/figures.ts';
import { success } from '../success.ts';

type Item = components['schemas']['FigureGroup'];

const hour = 3_600;
const day = 24 * hour;

/** Sums the figures of requests by hour, model and other fields. */
export const showFigures: Handler<'showFigures'> = async (request, reply) => {
  const { gateway, query } = request;
  const { user_id: userId, model, channel, operation } = query;
  const by = [...new Set([query.by ?? []].flat())];
  const until = wholeHours(query.until ?? gateway.clock() / 1_000, Math.ceil);
  const since = wholeHours(query.since ?? until - day, Math.floor);
  const filter = { userId, model, channel, operation };
  const { groups, more } = await runReport(request, 'showFigures', { by, since, until, ...filter });
  if (more)
    throw invalid('by', `the result has more than ${mostGroups} groups; name fewer fields, or less time.`);
  const sum = groups.reduce((all, { figures }) => addFigures(all, figures), noFigures);
  const items = groups.map(({ group, figures }) => {
    const fields = by.map((field, index) => [field === 'user' ? 'user_id' : field, group[index]]);
    return { ...(Object.fromEntries(fields) as Partial<Item>), ...viewFigures(figures) };
  });
  reply.json(200, success({ since, until, items, sum: viewFigures(sum) }));
};

const wholeHours = (seconds: number, round: (hours: number) => number) => round(seconds / hour) * hour;

function viewFigures(figures: Figures): components['schemas']['Figures'] {
  const { requests, errors, quota, refunded, units, prompt_tokens, completion_tokens } = figures;
  return {
    requests,
    errors,
    quota,
    refunded,
    // Sums of fractional seconds have rounding errors.
    units: Object.fromEntries(
      Object.entries(units).map(([unit, count]) => [unit, Math.round(count * 1e3) / 1e3]),
    ),
    prompt_tokens,
    completion_tokens,
    latency: {
      mean_ms: requests === 0 ? 0 : Math.round(figures.duration_ms / requests),
      p50_ms: atMost(figures, 0.5),
      p95_ms: atMost(figures, 0.95),
      max_ms: figures.longest_ms,
    },
  };
}
