import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { SessionUpdate } from '../../generated/events.ts';
import { quoted, systemVoices } from '../models/catalogue.ts';
import type { SessionProblem } from './errors.ts';

/** Settings that the legacy models lack. */
const newer = ['speech_rate', 'volume', 'pitch_rate', 'bit_rate'] as const;

/** What the contract's schema cannot say about the settings, because it depends on the model. */
export function sessionProblem(
  model: CatalogueModel,
  session: SessionUpdate['session'] & { model?: unknown },
): SessionProblem | undefined {
  if (session.model !== undefined && session.model !== model.id) {
    return problem('model', `is ${model.id} for this connection; another model needs another connection.`);
  }
  if (model.family === 'alpha-legacy') {
    const { response_format: format = 'pcm', sample_rate: rate = 24_000 } = session;
    if (format !== 'pcm') return problem('response_format', 'this model takes only pcm.');
    if (rate !== 24_000) return problem('sample_rate', 'this model takes only 24000.');
    const extra = newer.find((name) => session[name] !== undefined);
    if (extra !== undefined) return problem(extra, 'this model does not take it.');
  }
  if (model.instruct !== true) {
    const extra = session.instructions !== undefined ? 'instructions' : 'optimize_instructions';
    if (session.instructions !== undefined || session.optimize_instructions === true)
      return problem(extra, 'only instruct models take it.');
  }
  if (model.voices !== 'system' && systemVoices(model).some(({ id }) => id === session.voice)) {
    const kind = model.voices ?? 'custom';
    return problem(
      'voice',
      `this model takes no system voice such as ${quoted(session.voice)}, only a ${kind} one.`,
    );
  }
  return undefined;
}

function problem(field: string, message: string): SessionProblem {
  return { code: 'invalid_value', message: `session.${field}: ${message}`, param: `session.${field}` };
}
