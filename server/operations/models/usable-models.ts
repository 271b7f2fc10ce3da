import { type CatalogueModel, families, type Protocol, type Unit } from '../../../generated/catalogue.ts';
import type { OperationRequest, ResponseBody } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { knownModel, systemVoices } from '../../models/catalogue.ts';
import { usableVoices } from '../../store/queries/voices.ts';

type Request = Pick<OperationRequest<'listModels'>, 'gateway' | 'caller'>;
type Model = ResponseBody<'getModel', 200>;
type Price = Pick<Model, 'unit_price' | 'price_rules' | 'group_ratio'>;
type ModelVoice = NonNullable<Model['voices']>[number];

/** Maximum number of the user's own voices that are listed. */
const maxVoices = 1_000;

/** Protocols of channels whose models need not be in the catalog, with the unit of these models. */
const unitsOutsideCatalog: readonly (readonly [
  Protocol & ('embeddings' | 'messages' | 'official' | 'eta'),
  Unit,
])[] = [
  ['embeddings', 'tokens'],
  ['messages', 'tokens'],
  ['official', 'seconds'],
  ['eta', 'seconds'],
];

/** Date of models outside the catalog: the first date of the catalog. */
const [firstDay = ''] = Object.values(families)
  .map(({ since }) => since)
  .toSorted();

/** Lists the models that the caller may use and a channel serves, by id. `only` restricts the result to one id. */
export async function usableModels(
  { gateway: { access, channels, prices, store }, caller }: Request,
  only?: string,
): Promise<Model[]> {
  const allowed = (id: string) => (only === undefined || id === only) && access.allows(caller, id);
  // Read together with the access, because a reload may remove the price.
  const priceOf = (id: string): Price => {
    const { price, groupRatio: group_ratio } = prices.offer(id, caller.group);
    return typeof price === 'number'
      ? { unit_price: price, group_ratio }
      : { unit_price: null, price_rules: price, group_ratio };
  };
  const known = access
    .list(caller)
    .filter(({ id }) => allowed(id) && channels.serves(id, caller.group))
    .map((model) => ({ ...model, price: priceOf(model.id) }));
  const others = unitsOutsideCatalog.flatMap(([protocol, unit]) =>
    channels
      .namedModels(protocol)
      .filter((id) => !knownModel(id) && allowed(id))
      .filter((id) => channels.serving(protocol, id, caller.group).length > 0)
      .map((id) => factsOf(id, 'operator', firstDay, { protocols: [protocol], unit, price: priceOf(id) })),
  );
  const hasVoices = known.some(({ voices }) => voices !== undefined);
  const target = only === undefined ? {} : { targetModel: only };
  const own = hasVoices
    ? await usableVoices(store.read, { ...viewerOf(caller), ...target, limit: maxVoices })
    : [];
  const voicesFor = (id: string) =>
    own
      .filter((voice) => voice.target_model === id)
      .map(({ voice_id, name }): ModelVoice => ({ id: voice_id, name, custom: true }));
  const described = known.map((model) => describe(model, voicesFor(model.id)));
  const byId = new Map([...others, ...described].map((model) => [model.id, model]));
  return [...byId.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
}

function describe(model: CatalogueModel & { price: Price }, own: readonly ModelVoice[]): Model {
  const { owner, since } = families[model.family];
  const facts = factsOf(model.id, owner, model.since ?? since, model);
  if (model.voices === undefined) return facts;
  const system = model.voices === 'system' ? systemVoices(model) : [];
  return {
    ...facts,
    voices: [...system.map((voice) => ({ ...voice, languages: [...voice.languages] })), ...own],
  };
}

function factsOf(
  id: string,
  owner: string,
  since: string,
  { protocols, unit, price }: { protocols: readonly Protocol[]; unit: Unit; price: Price },
): Model {
  const created = new Date(since);
  return {
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: created.getTime() / 1000,
    created_at: created.toISOString(),
    owned_by: owner,
    protocols: [...protocols],
    unit,
    ...price,
  };
}
