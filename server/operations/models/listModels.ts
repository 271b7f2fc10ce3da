import { type CatalogueModel, families } from '../../../generated/catalogue.ts';
import type { Handler, ResponseBody } from '../../http/handler.ts';
import { systemVoices } from '../../models/catalogue.ts';

/** The models of the caller's key that some channel serves. */
export const listModels: Handler<'listModels'> = ({ gateway, caller }, reply) => {
  const data = gateway.access
    .list(caller)
    .filter(({ id }) => gateway.channels.serves(id, caller.group))
    .sort((left, right) => (left.id < right.id ? -1 : 1))
    .map(describe);
  reply.json(200, { object: 'list', data });
};

function describe(model: CatalogueModel): ResponseBody<'listModels', 200>['data'][number] {
  const voices = model.voices === 'system' ? systemVoices(model) : [];
  const { owner, since } = families[model.family];
  return {
    id: model.id,
    object: 'model',
    created: Date.parse(model.since ?? since) / 1000,
    owned_by: owner,
    protocols: [...model.protocols],
    unit: model.unit,
    ...(model.voices === undefined
      ? {}
      : { voices: voices.map((voice) => ({ ...voice, languages: [...voice.languages] })) }),
  };
}
