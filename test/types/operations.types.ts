// The operation table is precise enough for a typed registry. Nothing here runs: `tsc` checks it.
import type { CatalogueModel, ModelId, Protocol, Unit } from '../../generated/catalogue.ts';
import type { operations as HttpOperations, paths } from '../../generated/http.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import type { OperationRequest } from '../../server/http/handler.ts';
import type { Caller } from '../../server/keys/caller.ts';
import type { Equal, Expect } from './equal.types.ts';

type Registry = { [Op in OperationId]: () => void };
declare const handlers: Registry;

const { createSpeech: _, ...incomplete } = handlers;
// @ts-expect-error a registry without createSpeech is not complete
export const missing: Registry = incomplete;
// @ts-expect-error there is no such operation
export const misspelled: Registry = { ...handlers, createSpeach: () => {} };

// The HTTP types contain every id, path and alias of the table.
export type Ids = Expect<OperationId extends keyof HttpOperations ? true : false>;
export type Paths = Expect<(typeof operations)[OperationId]['path'] extends keyof paths ? true : false>;
export type Aliases = Expect<
  (typeof operations)[OperationId]['aliases'][number] extends keyof paths ? true : false
>;

export type Speech = Expect<Equal<(typeof operations)['createSpeech']['method'], 'post'>>;

const model: CatalogueModel = { id: 'voxa-v2', family: 'voxa', protocols: ['inference'], unit: 'characters' };
void model;
// @ts-expect-error not a model of the catalog
export const unknown: ModelId = 'voxa-v9';
export const unit: Unit = 'tracks';
// @ts-expect-error not a protocol
export const protocol: Protocol = 'telepathy';

// A handler has a caller only if the operation requires a key.
export type KeyedCaller = Expect<Equal<OperationRequest<'createSpeech'>['caller'], Caller>>;
export type KeylessCaller = Expect<Equal<OperationRequest<'getHealth'>['caller'], undefined>>;
