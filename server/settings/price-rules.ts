import type { VoiceKind } from '../../generated/catalogue.ts';
import type { ModelPrice, PriceRule } from '../../generated/settings.ts';

export type { ModelPrice, PriceRule };

/** The fields of a request that a rule applies to. */
export type Conditions = NonNullable<PriceRule['when']>;

/** The figures of a usage that a rule can price. */
export type FigureName = keyof NonNullable<PriceRule['per']>;

/** A usage by the names of its figures. */
export type Figures = Readonly<Partial<Record<FigureName, number>>>;

/** A rule with its position in the list, from 1. */
export interface ChosenRule extends Readonly<PriceRule> {
  readonly number: number;
}

/** A rule with the usage that it priced. */
export interface AppliedRule extends ChosenRule {
  readonly figures: Figures;
  /** The fields of the request that the provider reported with other values. Absent: none. */
  readonly reported?: ReportedFields;
}

/** The fields of a request that rules can depend on, under the names of the configuration file. */
export interface PriceFields {
  resolution?: string | undefined;
  ratio?: string | undefined;
  /** Longest possible duration in seconds. */
  duration?: number | undefined;
  audio?: boolean | undefined;
  reference_video?: boolean | undefined;
  service_tier?: string | undefined;
  voice?: VoiceKind | undefined;
  task?: string | undefined;
  action?: string | undefined;
}

/** The fields of a video that a provider can report. */
export type ReportedFields = Pick<PriceFields, 'resolution' | 'ratio' | 'duration' | 'audio'>;

/** Values that a provider may choose for the fields that a request leaves to it. */
export interface OpenFields {
  resolution?: readonly string[] | undefined;
  ratio?: readonly string[] | undefined;
  /** Shortest and longest video in seconds. */
  duration?: readonly [shortest: number, longest: number] | undefined;
}

/** The parts of a task's request that price its usage. */
export interface TaskPricing {
  /** The price rule that the reservation is for. Null: every unit has the same price. */
  readonly rule: ChosenRule | null;
  /** Upper bound of the output tokens of a video with `fields`. */
  readonly maxOutputTokens: number;
  /** The fields of the request that prices depend on. Absent: no price depends on them. */
  readonly fields?: PriceFields;
  /**
   * The rules that can apply to a report of the provider, when the task was created. Null: every unit has the same price. Absent:
   * a report changes neither the rule nor the cost at the provider.
   */
  readonly rules?: readonly ChosenRule[] | null;
  /** Reserved quota. Absent: the cost of the upper bounds by `rule`. */
  readonly reserved?: number;
}

/** A mistake in a list of rules. */
interface RuleProblem {
  /** Path below the list. */
  at: (string | number)[];
  message: string;
}

/** Finds rules without a price, a list without a rule for every request, and lengths in the wrong order. */
export function ruleProblems(rules: readonly PriceRule[]): RuleProblem[] {
  const last = rules.length - 1;
  return rules.flatMap(({ when, per, minimum }, index): RuleProblem[] => [
    ...(per === undefined && minimum === undefined
      ? [{ at: [index], message: 'a rule needs `per` or `minimum`.' }]
      : []),
    ...(index === last && when !== undefined
      ? [{ at: [index], message: 'the last rule must have no `when`, so that every request has a price.' }]
      : []),
    ...(isReversed(when?.duration)
      ? [{ at: [index, 'when', 'duration'], message: '`min` must be at most `max`.' }]
      : []),
  ]);
}

type Duration = Conditions['duration'];

function isReversed(duration: Duration): boolean {
  return typeof duration === 'object' && (duration.min ?? 0) > (duration.max ?? Number.POSITIVE_INFINITY);
}

/** Finds rules that never apply, since an earlier one applies to every request that they apply to. */
export function unreachableRules(rules: readonly PriceRule[]): { index: number; by: number }[] {
  return rules.flatMap((rule, index) => {
    const by = rules.slice(0, index).findIndex((earlier) => covers(earlier.when ?? {}, rule.when ?? {}));
    return by < 0 ? [] : [{ index, by }];
  });
}

/** Whether every request that meets `inner` also meets `outer`. */
function covers(outer: Conditions, inner: Conditions): boolean {
  return (Object.keys(outer) as (keyof Conditions)[]).every((field) => {
    const [wide, narrow] = [outer[field], inner[field]];
    if (narrow === undefined) return false;
    if (field === 'duration') return containsRange(rangeOf(outer.duration), rangeOf(inner.duration));
    return valuesOf(narrow).every((value) => valuesOf(wide).includes(value));
  });
}

/** The values of a condition that is no range, in lower case. */
export function valuesOf(condition: unknown): readonly unknown[] {
  const values: readonly unknown[] = Array.isArray(condition) ? condition : [condition];
  return values.map((value) => (typeof value === 'string' ? value.toLowerCase() : value));
}

/** Least and most seconds of a condition. */
export function rangeOf(duration: Duration): readonly [min: number, max: number] {
  if (typeof duration === 'number') return [duration, duration];
  return [duration?.min ?? 0, duration?.max ?? Number.POSITIVE_INFINITY];
}

function containsRange(outer: readonly [number, number], inner: readonly [number, number]): boolean {
  return outer[0] <= inner[0] && inner[1] <= outer[1];
}
