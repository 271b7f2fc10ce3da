import type { components } from '../../../generated/http.ts';
import type { Handler } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import { invalid } from '../../lib/failure.ts';
import {
  addFigures,
  atMost,
  type FigureGroup,
  type Figures,
  type Grouping,
  mostGroups,
  noFigures,
} from '../../store/queries/figures.ts';

type View = components['schemas']['Figures'];
type Item = components['schemas']['FigureGroup'];

const hour = 3_600;
const day = 24 * hour;

/** What requests came to, by hour, model and so on. */
export const showFigures: Handler<'showFigures'> = async (request, reply) => {
  const { gateway, query } = request;
  const by = [...new Set([query.by ?? []].flat())];
  const until = wholeHours(query.until ?? gateway.clock() / 1_000, Math.ceil);
  const since = wholeHours(query.since ?? until - day, Math.floor);
  const asked = {
    by,
    since,
    until,
    userId: query.user_id,
    model: query.model,
    channel: query.channel,
    operation: query.operation,
  };
  const { groups, more } = await runReport(request, 'showFigures', asked);
  if (more) throw invalid('by', `comes to more than ${mostGroups} groups; ask for fewer, or for less time.`);
  const sum = groups.reduce((all, { figures }) => addFigures(all, figures), noFigures);
  const items = groups.map((group) => viewGroup(by, group));
  reply.json(200, { success: true, message: '', data: { since, until, items, sum: viewFigures(sum) } });
};

const wholeHours = (seconds: number, round: (hours: number) => number) => round(seconds / hour) * hour;

function viewGroup(by: readonly Grouping[], { group, figures }: FigureGroup): Item {
  const named = by.map((one, index) => [one === 'user' ? 'user_id' : one, group[index]]);
  return { ...(Object.fromEntries(named) as Partial<Item>), ...viewFigures(figures) };
}

function viewFigures(figures: Figures): View {
  const { requests, errors, quota, refunded, units, prompt_tokens, completion_tokens } = figures;
  return {
    requests,
    errors,
    quota,
    refunded,
    // Sums of seconds have rests that nobody counted.
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
