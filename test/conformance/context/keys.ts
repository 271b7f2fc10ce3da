import { documented, documentedOperations } from '../contract/documented.ts';
import { type HttpResponse, jsonOf, type Target } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';
import type { Caller } from './caller.ts';
import { Unavailable } from './unavailable.ts';

/** Keys with fewer rights than the key of the run. */
export type KeyVariant = 'revoked' | 'singleModel' | 'noQuota' | 'rateLimited' | 'nonAdmin';

/** Creates each key on first use. The clean-up deletes them. */
export class Keys {
  readonly #caller: Caller;
  readonly #target: Target;
  readonly #createNonAdminKey: () => Promise<string>;
  readonly #keys = new Map<KeyVariant, Promise<string>>();
  /** Ids of the keys that the user of the run created. */
  readonly #ids = new Map<KeyVariant, number>();

  /** `createNonAdminKey` returns the key of a user who is not an admin. */
  constructor(caller: Caller, target: Target, createNonAdminKey: () => Promise<string>) {
    this.#caller = caller;
    this.#target = target;
    this.#createNonAdminKey = createNonAdminKey;
  }

  /** Returns the target with this key. */
  async as(name: KeyVariant): Promise<Target> {
    const key = this.#keys.get(name) ?? this.#createVariant(name);
    this.#keys.set(name, key);
    return { ...this.#target, key: await key };
  }

  /** Replaces a key. Deletes it, since a key can create a limited number of others. */
  async recreate(name: KeyVariant): Promise<Target> {
    const id = this.#ids.get(name);
    this.#keys.delete(name);
    if (id !== undefined) await this.#delete(id);
    return this.as(name);
  }

  async #createVariant(name: KeyVariant): Promise<string> {
    if (name === 'nonAdmin') return this.#createNonAdminKey();
    if (name === 'noQuota') return (await this.#create({ name, remain_quota: 0 })).key;
    if (name === 'rateLimited')
      return (await this.#create({ name, remain_quota: 1_000, requests_per_minute: 1 })).key;
    if (name === 'singleModel')
      return (await this.#create({ name, ...(await this.#singleModelLimits()) })).key;
    const { id, key } = await this.#create({ name, remain_quota: 0 });
    await this.#delete(id);
    return key;
  }

  async #delete(id: number): Promise<void> {
    const { response } = await this.#caller.send(this.#target, documented('deleteToken'), {
      path: { id: String(id) },
    });
    if (response.status !== 200) throw new Unavailable(`a key cannot be deleted: ${excerpt(response)}`);
  }

  /** Limits a key to one model that no documented request names. */
  async #singleModelLimits() {
    const { response } = await this.#caller.send(this.#target, documented('listModels'));
    const { data } = dataOf<{ data: { id: string }[] }>(response, 'the models cannot be listed');
    const named = JSON.stringify([...documentedOperations.values()].map(({ requests }) => requests));
    const model = data.map(({ id }) => id).findLast((id) => !named.includes(`"${id}"`));
    if (model === undefined) throw new Unavailable('documented requests name every model');
    return { remain_quota: 1_000, model_limits_enabled: true, model_limits: model };
  }

  async #create({ name, ...limits }: { name: KeyVariant; [field: string]: unknown }) {
    const body = JSON.stringify({ name: `conformance ${name}`, ...limits });
    const { response } = await this.#caller.send(this.#target, documented('createToken'), { body });
    const { data } = dataOf<{ data: { id: number; key: string } }>(response, 'no key can be created');
    this.#ids.set(name, data.id);
    return data;
  }
}

function dataOf<T>(response: HttpResponse, message: string): T {
  if (response.status !== 200) throw new Unavailable(`${message}: ${response.status} ${excerpt(response)}`);
  return jsonOf(response) as T;
}
