import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { documented } from '../contract/documented.ts';
import { asText, type Variation } from '../wire/exchange.ts';
import { type HttpResponse, jsonOf, type Target } from '../wire/http-response.ts';
import type { Caller } from './caller.ts';

interface UndoRequest {
  /** The resource, for the report. */
  resource: string;
  operation: OperationId;
  variation: Variation;
}

/** Builds the request that deletes a created resource. Undefined when nothing can be deleted. */
const undoRequests: Partial<Record<OperationId, (response: HttpResponse) => UndoRequest | undefined>> = {
  createToken: (response) => deleteTokenRequest('deleteToken', response),
  createUserToken: (response) => deleteTokenRequest('revokeToken', response),
  createMyMember: (response) => {
    const { id } = (jsonOf(response) as { data: { id: number } }).data;
    const variation = { path: { member_id: String(id) } };
    return { resource: `the member ${id}`, operation: 'deleteMyMember', variation };
  },
  createUser: (response) => {
    const { id } = (jsonOf(response) as { data: { id: number } }).data;
    const variation = { path: { id: String(id) }, body: { disabled: true } };
    return { resource: `the user ${id}`, operation: 'updateUser', variation };
  },
  createEndpoint: (response) => deleteEndpointRequest('deleteEndpoint', response),
  createOperatorEndpoint: (response) => deleteEndpointRequest('deleteOperatorEndpoint', response),
  customizeVoice: (response) => {
    const { output } = jsonOf(response) as { output?: { voice_id?: string; voice?: string } };
    const { voice_id, voice } = output ?? {};
    if (voice_id !== undefined)
      return deleteVoiceRequest('voice-enrollment', { action: 'delete_voice', voice_id });
    return voice === undefined
      ? undefined
      : deleteVoiceRequest(serviceOf(voice), { action: 'delete', voice });
  },
};

const deleteTokenRequest = (operation: OperationId, response: HttpResponse): UndoRequest => {
  const { id } = (jsonOf(response) as { data: { id: number } }).data;
  return { resource: `the key ${id}`, operation, variation: { path: { id: String(id) } } };
};

const deleteEndpointRequest = (operation: OperationId, response: HttpResponse): UndoRequest => {
  const { id } = (jsonOf(response) as { data: { id: number } }).data;
  const resource = `the callback endpoint ${id}`;
  return { resource, operation, variation: { path: { id: String(id) } } };
};

const serviceOf = (voice: string) =>
  voice.includes('-vd-') ? 'alpha-voice-design' : 'alpha-voice-enrollment';

const deleteVoiceRequest = (model: string, input: JsonObject): UndoRequest => ({
  resource: `the voice ${asText(input.voice_id ?? input.voice)}`,
  operation: 'customizeVoice',
  variation: { body: { model, input } },
});

/** Deletes the keys, callback endpoints and voices that a run created, and disables its users. */
export class CleanUp {
  readonly #caller: Caller;
  readonly #target: Target;
  readonly #created = new Map<string, UndoRequest>();
  readonly #assets = new Set<string>();

  constructor(caller: Caller, target: Target) {
    this.#caller = caller;
    this.#target = target;
    caller.onSuccess((operation, at, response) => {
      // Resources on other servers are not deleted.
      if (at.url !== target.url) return;
      const id = (operation.aliasOf ?? operation.id) as OperationId;
      const request = undoRequests[id]?.(response);
      if (request !== undefined) this.#created.set(request.resource, request);
      if (id === 'uploadAsset') this.#assets.add((jsonOf(response) as { data: { Id: string } }).data.Id);
    });
  }

  /** Deletes everything, newest first. Returns the resources that remain. */
  async finish(): Promise<string[]> {
    const assets = [...this.#assets];
    const leftovers =
      assets.length === 0 ? [] : [`the assets ${assets.join(', ')}, which no operation deletes`];
    for (const { resource, operation, variation } of [...this.#created.values()].reverse()) {
      const deleted = await this.#caller
        .send(this.#target, documented(operation), variation)
        .catch(() => undefined);
      // A check may have deleted the resource already, which returns 404.
      const status = deleted?.response.status;
      if (status !== 200 && status !== 404)
        leftovers.push(`${resource}: ${operation} returns ${status ?? 'no response'}`);
      if (operation === 'updateUser' && status === 200) leftovers.push(`${resource}, disabled`);
    }
    return leftovers;
  }
}
