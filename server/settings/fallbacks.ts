import { type CatalogueModel, models } from '../../generated/catalogue.ts';

const catalogue: ReadonlyMap<string, CatalogueModel> = new Map(models.map((model) => [model.id, model]));

type Fallbacks = Readonly<Record<string, readonly string[]>>;

/** Finds fallbacks between models that take different requests or have different units, and loops. */
export function fallbackProblems(fallbacks: Fallbacks): { at: (string | number)[]; message: string }[] {
  return Object.entries(fallbacks).flatMap(([model, others]) =>
    others.flatMap((other, index) => {
      const at = ['fallbacks', model, index];
      const problem = problemOf(fallbacks, model, other);
      return problem === undefined ? [] : [{ at, message: `fallbacks.${model}: ${problem}` }];
    }),
  );
}

function problemOf(fallbacks: Fallbacks, model: string, other: string): string | undefined {
  const [from, to] = [catalogue.get(model), catalogue.get(other)];
  if (from === undefined) return `the catalog has no model ${model}.`;
  if (to === undefined) return `the catalog has no model ${other}.`;
  if (!to.protocols.some((protocol) => from.protocols.includes(protocol)))
    return `${other} has the protocol ${to.protocols.join(', ')}, not ${from.protocols.join(', ')}.`;
  if (to.unit !== from.unit) return `${other} is billed in ${to.unit}, not in ${from.unit}.`;
  return reaches(fallbacks, other, model) ? `${other} falls back to ${model}, which is a loop.` : undefined;
}

/** Whether the fallbacks of a model lead to another one. */
function reaches(fallbacks: Fallbacks, from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return (Object.hasOwn(fallbacks, from) ? (fallbacks[from] ?? []) : []).some((next) =>
    reaches(fallbacks, next, to, seen),
  );
}
