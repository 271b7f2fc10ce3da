import type { Unit } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { Channel } from '../../channels/channel.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { notServed } from '../../lib/failure.ts';
import { findModel, knownModel, modelNotFound, quoted, requireProtocol } from '../../models/catalogue.ts';

/** Protocols of text models. Channels with the same protocol serve them. */
export type TextProtocol = 'embeddings' | 'messages';

/** A text model and the channels that serve it to the caller. */
export interface TextModel {
  id: string;
  unit: Unit;
  /** In failover order. */
  channels: readonly Channel[];
}

/**
 * Finds a model in the catalogue, or one that only a channel lists.
 *
 * @throws Failure 404 when it does not exist or has no price, 403 when the caller may not use it, 400 when another route
 *   serves it, 503 when no channel serves it to the caller
 */
export function findTextModel(
  { gateway: { access, channels }, caller }: OperationRequest<OperationId>,
  id: string,
  protocol: TextProtocol,
): TextModel {
  let unit: Unit = 'tokens';
  if (knownModel(id)) {
    const model = findModel(id);
    access.require(caller, model);
    requireProtocol(model, protocol);
    ({ unit } = model);
  } else {
    if (!channels.lists(protocol, id)) throw modelNotFound(id);
    access.require(caller, { id });
  }
  const serving = channels.serving(protocol, id, caller.group);
  if (serving.length === 0) throw notServed(quoted(id));
  return { id, unit, channels: channels.order(serving) };
}
