import { documented, documentedOperations } from '../contract/documented.ts';
import { type Answer, jsonOf, type Target } from '../wire/answer.ts';
import { excerpt } from '../wire/wire.ts';
import type { Caller } from './caller.ts';
import { Unavailable } from './unavailable.ts';

/** Keys that may do less than the one that the run was given. */
export type LesserKey = 'revoked' | 'restricted' | 'penniless' | 'hasty' | 'ordinary';

/** Makes each key when it is first asked for. What is made with `createToken` is deleted at the end like all keys. */
export class Keys {
  readonly #caller: Caller;
  readonly #target: Target;
  readonly #ordinary: () => Promise<string>;
  readonly #made = new Map<LesserKey, Promise<string>>();

  /** `ordinary` gives the key of a user who is no admin. */
  constructor(caller: Caller, target: Target, ordinary: () => Promise<string>) {
    this.#caller = caller;
    this.#target = target;
    this.#ordinary = ordinary;
  }

  /** The server as the owner of a lesser key sees it. */
  async as(name: LesserKey): Promise<Target> {
    const known = this.#made.get(name) ?? this.#make(name);
    this.#made.set(name, known);
    return { ...this.#target, key: await known };
  }

  /** The same with a new key. */
  anew(name: LesserKey): Promise<Target> {
    this.#made.delete(name);
    return this.as(name);
  }

  async #make(name: LesserKey): Promise<string> {
    if (name === 'ordinary') return this.#ordinary();
    if (name === 'penniless') return (await this.#create({ name, remain_quota: 0 })).key;
    if (name === 'hasty')
      return (await this.#create({ name, remain_quota: 1_000, requests_per_minute: 1 })).key;
    if (name === 'restricted') return (await this.#create({ name, ...(await this.#narrow()) })).key;
    const { id, key } = await this.#create({ name, remain_quota: 0 });
    const gone = await this.#caller.send(this.#target, documented('deleteToken'), {
      path: { id: String(id) },
    });
    if (gone.answer.status !== 200) throw new Unavailable(`no key can be revoked: ${excerpt(gone.answer)}`);
    return key;
  }

  /** The limits of a key that may use a single model, which no documented request names. */
  async #narrow() {
    const { answer } = await this.#caller.send(this.#target, documented('listModels'));
    const { data } = read<{ data: { id: string }[] }>(answer, 'the models cannot be listed');
    const named = JSON.stringify([...documentedOperations.values()].map(({ requests }) => requests));
    const model = data.map(({ id }) => id).findLast((id) => !named.includes(`"${id}"`));
    if (model === undefined) throw new Unavailable('there is no model that no documented request names');
    return { remain_quota: 1_000, model_limits_enabled: true, model_limits: model };
  }

  async #create({ name, ...limits }: { name: string; [field: string]: unknown }) {
    const body = JSON.stringify({ name: `conformance ${name}`, ...limits });
    const { answer } = await this.#caller.send(this.#target, documented('createToken'), { body });
    const { data } = read<{ data: { id: number; key: string } }>(answer, 'no key can be made');
    return data;
  }
}

function read<T>(answer: Answer, otherwise: string): T {
  if (answer.status !== 200) throw new Unavailable(`${otherwise}: ${answer.status} ${excerpt(answer)}`);
  return jsonOf(answer) as T;
}
