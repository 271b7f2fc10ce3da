import type { components } from '../../../generated/http.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { runReport } from '../../http/run-report.ts';
import { invalid } from '../../lib/failure.ts';
import { isTimeZone, TimeZone } from '../../lib/time-zone.ts';
import {
  addFigures,
  atMost,
  type FigureGroup,
  type Figures,
  type FiguresQuery,
  type Grouping,
  mostGroups,
  noFigures,
} from '../../store/queries/figures.ts';
import { memberNames } from '../../store/queries/members.ts';

type Schemas = components['schemas'];
type FigureFilter = Omit<FiguresQuery, 'by' | 'since' | 'until'>;

const hour = 3_600;
const day = 24 * hour;

/** Dimensions whose field in a group has another name. */
const fieldNames: Readonly<Record<string, string>> = {
  user: 'user_id',
  account: 'account_id',
  key: 'token_id',
};

/** Sums the figures of the requests that a filter matches. @throws Failure 400 for too many groups */
export async function reportFigures(
  request: OperationRequest<'showFigures' | 'getMyUsage'>,
  filter: FigureFilter,
  { forOperator }: { forOperator: boolean } = { forOperator: false },
): Promise<Schemas['FiguresReply']['data']> {
  const { gateway, query } = request;
  const by = [...new Set([query.by ?? []].flat())];
  const until = wholeHours(query.until ?? gateway.clock() / 1_000, Math.ceil);
  const since = wholeHours(query.since ?? until - day, Math.floor);
  const zone = timeZoneOf(query.time_zone);
  const offsets = zone && offsetsOf(zone, { since, until, now: gateway.clock() / 1_000 });
  const { groups, more, completeUntil } = await runReport(request, 'showFigures', {
    by,
    since,
    until,
    offsets,
    ...filter,
  });
  if (more)
    throw invalid('by', `the result has more than ${mostGroups} groups; name fewer fields, or less time.`);
  const names = await namesOf(request, by, groups);
  const sum = groups.reduce((all, { figures }) => addFigures(all, figures), noFigures);
  const items = groups.map(({ group, figures }) => {
    const fields = by.map((field, index): Partial<Schemas['FigureGroup']> => {
      const value = group[index];
      if (field === 'member') return memberFields(Number(value), names);
      return {
        [fieldNames[field] ?? field]: field === 'day' && zone ? zone.startOfDay(Number(value)) : value,
      };
    });
    return {
      ...(Object.assign({}, ...fields) as Partial<Schemas['FigureGroup']>),
      ...viewFigures(figures, forOperator),
    };
  });
  return { since, until, complete_until: completeUntil, items, sum: viewFigures(sum, forOperator) };
}

/** Reads the names of the members in groups. */
function namesOf(
  { gateway }: Pick<OperationRequest<'showFigures'>, 'gateway'>,
  by: readonly Grouping[],
  groups: readonly FigureGroup[],
): Promise<ReadonlyMap<number, string>> {
  const index = by.indexOf('member');
  const ids = index === -1 ? [] : groups.map(({ group }) => Number(group[index]));
  return memberNames(gateway.store.read, [...new Set(ids)]);
}

/** The fields of a member in a group. 0: the user itself. */
const memberFields = (id: number, names: ReadonlyMap<number, string>) =>
  id === 0 ? { member_id: null, member_name: null } : { member_id: id, member_name: names.get(id) ?? '' };

function timeZoneOf(name: string | undefined): TimeZone | undefined {
  if (name === undefined || name === 'UTC') return undefined;
  if (!isTimeZone(name)) throw invalid('time_zone', 'must be an IANA time zone, such as Europe/Berlin.');
  return new TimeZone(name);
}

/** Start of 2020, before the first entry of any log. */
const firstEntry = 1_577_836_800;

/** Returns the offsets of the part of a range that can have entries. */
function offsetsOf(zone: TimeZone, { since, until, now }: { since: number; until: number; now: number }) {
  const from = Math.max(since, firstEntry);
  return zone.offsetsIn(from, Math.max(from, Math.min(until, wholeHours(now, Math.ceil) + day)));
}

const wholeHours = (seconds: number, round: (hours: number) => number) => round(seconds / hour) * hour;

function viewFigures(figures: Figures, forOperator: boolean): Schemas['Figures'] {
  const { requests, errors, quota, cost, refunded, units, prompt_tokens, completion_tokens } = figures;
  return {
    requests,
    errors,
    quota,
    refunded,
    ...(forOperator && { cost, margin: quota - refunded - cost }),
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
