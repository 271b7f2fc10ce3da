import type { Request } from 'express';
import { isObject, type JsonObject } from '../../openapi/tools/document.ts';
import type { Gateway } from '../../server/http/gateway.ts';
import type { Handler, Reply } from '../../server/http/handler.ts';
import { videoFamily } from '../../server/models/video-options.ts';
import type { handlers } from '../../server/operations/registry.ts';
import { mapValues } from './examples.ts';

type OperationId = keyof typeof handlers;

/**
 * Checks a request against the rules that no schema contains, such as those of its model. The gateway's own handler runs
 * up to its first use of a provider, the store or the response. Keys, references and custom voices are not checked.
 *
 * @throws Failure as the gateway
 */
export async function checkRules(request: Request): Promise<void> {
  const { context, body } = request;
  const { operation } = context;
  // These operations send the gateway's own documents.
  if (operation === undefined || operation.area === 'service') return;
  const { handler, operationRequestOf, targetModel, settings } = await gatewayCode(operation.id);
  if (operation.id === 'customizeVoice') checkTargetModel(body as JsonObject, targetModel);
  let isPassed = false;
  /** An object that ends the check at any use. */
  const unused = new Proxy(() => {}, {
    get: (_, name) => (typeof name === 'symbol' ? undefined : pass()),
    apply: pass,
  });
  function pass(): never {
    isPassed = true;
    throw new Error('the mock does not run the rest of the handler');
  }
  const gateway = withDefault<keyof Gateway>(unused, {
    settings,
    access: withDefault(pass, { require() {}, allows: () => true }),
    // The mock serves only models of the catalog.
    channels: withDefault(pass, { lists: () => false }),
    clock: Date.now,
    addressOf: () => '',
    baseUrlOf: () => undefined,
  });
  const checked = body === undefined ? undefined : withoutAssets(operation.id, body as JsonObject);
  const operationRequest = operationRequestOf<OperationId>(gateway as unknown as Gateway, request, checked);
  try {
    // A method of the reply is read before its arguments are evaluated, so only its call ends the check.
    await handler(operationRequest, withDefault(pass, {}) as unknown as Reply<OperationId>);
  } catch (error) {
    if (!isPassed) throw error;
  }
}

/** Returns an object whose other properties all have one value. */
const withDefault = <Name extends string>(value: unknown, known: Partial<Record<Name, unknown>>) =>
  new Proxy(known, { get: (target, name: Name) => target[name] ?? value });

/** Loads the gateway's code at the first request, so that the mock starts fast. */
async function gatewayCode(id: OperationId) {
  const [{ operationRequestOf }, { handlers }, { targetModel }, { readSettings }] = await Promise.all([
    import('../../server/http/reply.ts'),
    import('../../server/operations/registry.ts'),
    import('../../server/models/catalogue.ts'),
    import('../../server/settings/settings.ts'),
  ]);
  const defaults = readSettings({});
  return {
    handler: handlers[id] as Handler<OperationId>,
    operationRequestOf,
    targetModel,
    settings: { ...defaults, callbacks: { ...defaults.callbacks, allowPrivate: true } },
  };
}

type TargetModel = typeof import('../../server/models/catalogue.ts').targetModel;

/** The handler looks up voices before it checks the target model. */
function checkTargetModel({ model, input }: JsonObject, targetModel: TargetModel): void {
  if (isObject(input) && typeof input.target_model === 'string')
    targetModel(model as Parameters<TargetModel>[0], input.target_model);
}

const genericVideos: readonly OperationId[] = ['createVideo', 'createGenericVideo'];

/** Replaces asset references by URLs for providers without assets, as the gateway does before it checks the media. */
function withoutAssets(id: OperationId, request: JsonObject): JsonObject {
  const { metadata, ...media } = request;
  const { model } = media;
  if (!genericVideos.includes(id) || typeof model !== 'string' || videoFamily(model) === 'seedance')
    return request;
  const linked = mapValues(media, (text) => text.replace(/^\s*asset:\/\//i, 'https://files.example/'));
  return { ...(linked as JsonObject), ...(metadata !== undefined && { metadata }) };
}
