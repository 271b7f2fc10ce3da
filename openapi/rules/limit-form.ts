import { readFileSync } from 'node:fs';
import { readYaml } from '../tools/problem.ts';
import { type Context, isNode, type Node, text } from './visit.ts';

/** The ids of the catalogue, of which a note must mean some. */
function catalogueIds(): string[] {
  const file = readFileSync(new URL('../models.yaml', import.meta.url), 'utf8');
  const { models } = readYaml('openapi/models.yaml', file) as { models: { id: string }[] };
  return models.map(({ id }) => id);
}

/**
 * `x-limit` notes a limit that a schema cannot say and the server checks: a list of `{ limit, models? }`, `limit` a
 * sentence, `models` an expression that the ids of the models match.
 */
export function limitForm() {
  const ids = catalogueIds();
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
  if (unknown !== undefined) return `there is no ${unknown}, only limit and models.`;
  if (!/^[A-Z].*\.$/.test(text(limit))) return 'limit must be a sentence.';
  if (models === undefined) return undefined;
  return ids.some((id) => matches(text(models), id))
    ? undefined
    : 'models must match a model of the catalogue.';
}

function matches(pattern: string, id: string): boolean {
  try {
    return pattern !== '' && new RegExp(pattern).test(id);
  } catch {
    return false;
  }
}
