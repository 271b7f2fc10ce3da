import { readFileSync } from 'node:fs';
import { readYaml } from '../tools/problem.ts';
import { type Context, isNode, type Node, text } from './visit.ts';

/** The model ids of the catalog. */
function catalogIds(): string[] {
  const file = readFileSync(new URL('../models.yaml', import.meta.url), 'utf8');
  const { models } = readYaml('openapi/models.yaml', file) as { models: { id: string }[] };
  return models.map(({ id }) => id);
}

/**
 * `x-limit` documents limits that a schema cannot express and the server checks. It is a list of `{ limit, models? }`:
 * `limit` is a sentence, `models` a regular expression for model ids.
 */
export function limitForm() {
  const ids = catalogIds();
  return {
    Schema(schema: Node, ctx: Context) {
      const notes = schema['x-limit'];
      if (notes === undefined) return;
      const location = ctx.location.child(['x-limit']);
      if (!Array.isArray(notes) || notes.length === 0) {
        ctx.report({ message: 'x-limit must be a list of { limit, models? }.', location });
        return;
      }
      for (const note of notes) {
        const problem = problemOf(note, ids);
        if (problem !== undefined) ctx.report({ message: `x-limit: ${problem}`, location });
      }
    },
  };
}

function problemOf(note: unknown, ids: readonly string[]): string | undefined {
  if (!isNode(note)) return 'each note must be an object.';
  const { limit, models, ...others } = note;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${unknown} is unknown; use limit and models.`;
  if (!/^[A-Z].*\.$/.test(text(limit))) return 'limit must be a sentence.';
  if (models === undefined) return undefined;
  return ids.some((id) => matches(text(models), id))
    ? undefined
    : 'models must match a model of the catalog.';
}

function matches(pattern: string, id: string): boolean {
  try {
    return pattern !== '' && new RegExp(pattern).test(id);
  } catch {
    return false;
  }
}
