import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { documented } from '../contract/documented.ts';
import { type Answer, jsonOf, type Target } from '../wire/answer.ts';
import { type Variation, written } from '../wire/exchange.ts';
import type { Caller } from './caller.ts';

interface Undoing {
  what: string;
  operation: OperationId;
  variation: Variation;
}

/** What undoes a good answer; undefined when nothing has to be undone, or nothing can be. */
const undoings: Partial<Record<OperationId, (answer: Answer) => Undoing | undefined>> = {
  createToken: (answer) => ofToken('deleteToken', answer),
  createUserToken: (answer) => ofToken('revokeToken', answer),
  createUser: (answer) => {
    const { id } = (jsonOf(answer) as { data: { id: number } }).data;
    const variation = { path: { id: String(id) }, body: { disabled: true } };
    return { what: `the user ${id}`, operation: 'updateUser', variation };
  },
  customizeVoice: (answer) => {
    const { output } = jsonOf(answer) as { output?: { voice_id?: string; voice?: string } };
    const { voice_id, voice } = output ?? {};
    if (voice_id !== undefined) return ofVoice('voice-enrollment', { action: 'delete_voice', voice_id });
    return voice === undefined ? undefined : ofVoice(serviceOf(voice), { action: 'delete', voice });
  },
};

const ofToken = (operation: OperationId, answer: Answer): Undoing => {
  const { id } = (jsonOf(answer) as { data: { id: number } }).data;
  return { what: `the key ${id}`, operation, variation: { path: { id: String(id) } } };
};

const serviceOf = (voice: string) =>
  voice.includes('-vd-') ? 'alpha-voice-design' : 'alpha-voice-enrollment';

const ofVoice = (model: string, input: JsonObject): Undoing => ({
  what: `the voice ${written(input.voice_id ?? input.voice)}`,
  operation: 'customizeVoice',
  variation: { body: { model, input } },
});

/** Remembers what a run makes, and takes it away again: keys, users (which can only be disabled) and voices. */
export class CleanUp {
  readonly #caller: Caller;
  readonly #target: Target;
  readonly #open = new Map<string, Undoing>();
  readonly #assets = new Set<string>();

  constructor(caller: Caller, target: Target) {
    this.#caller = caller;
    this.#target = target;
    caller.afterEach((operation, at, answer) => {
      // What another server made is its own affair.
      if (at.url !== target.url) return;
      const id = (operation.aliasOf ?? operation.id) as OperationId;
      const undoing = undoings[id]?.(answer);
      if (undoing !== undefined) this.#open.set(undoing.what, undoing);
      if (id === 'uploadAsset') this.#assets.add((jsonOf(answer) as { data: { Id: string } }).data.Id);
    });
  }

  /** Undoes all of it, the last first, and tells what is left. */
  async finish(): Promise<string[]> {
    const assets = [...this.#assets];
    const left = assets.length === 0 ? [] : [`the assets ${assets.join(', ')}, which no operation deletes`];
    for (const { what, operation, variation } of [...this.#open.values()].reverse()) {
      const gone = await this.#caller
        .send(this.#target, documented(operation), variation)
        .catch(() => undefined);
      // It may have been a check of its own to take it away.
      const status = gone?.answer.status;
      if (status !== 200 && status !== 404) left.push(`${what}: ${operation} answers ${status ?? 'nothing'}`);
      if (operation === 'updateUser' && status === 200) left.push(`${what}, disabled`);
    }
    return left;
  }
}
