import type { Protocol, Unit } from '../../generated/catalogue.ts';
import type { Channels } from '../channels/channels.ts';
import type { Caller } from '../keys/caller.ts';
import type { ModelAccess } from '../models/access.ts';
import { findModel, knownModel, modelNotFound, requireProtocol } from '../models/catalogue.ts';
import type { ChannelProtocol } from '../settings/configuration.ts';

/** Protocols of the catalog that run tasks. */
export type TaskProtocol = Extract<
  Protocol,
  'native_video' | 'native_3d' | 'official' | 'eta' | 'sigma' | 'imgjob'
>;

/** A model that runs tasks. */
export interface TaskModel {
  id: string;
  unit: Unit;
  protocol: TaskProtocol;
}

const units: Readonly<Record<TaskProtocol, Unit>> = {
  native_video: 'seconds',
  native_3d: 'actions',
  official: 'seconds',
  eta: 'seconds',
  sigma: 'tracks',
  imgjob: 'actions',
};

/** Returns the protocol of channels that serve a task protocol. */
export function channelProtocol(protocol: TaskProtocol): ChannelProtocol {
  return protocol === 'native_video' || protocol === 'native_3d' ? 'native' : protocol;
}

/**
 * Finds a model in the catalog or, if it is not there, in the models that channels of the protocols list.
 *
 * @throws Failure 404 when there is none or it has no price, 403 when the caller may not use it, 400 when another route serves it
 */
export function findTaskModel(
  { access, channels }: { access: ModelAccess; channels: Channels },
  caller: Caller,
  id: string,
  protocols: readonly TaskProtocol[],
): TaskModel {
  if (knownModel(id)) {
    const model = findModel(id);
    access.require(caller, model);
    requireProtocol(model, ...protocols);
    const protocol = protocols.find((one) => model.protocols.includes(one));
    if (protocol !== undefined) return { id, unit: model.unit, protocol };
  }
  const protocol = protocols.find((one) => channels.lists(channelProtocol(one), id));
  if (protocol === undefined) throw modelNotFound(id);
  access.require(caller, { id });
  return { id, unit: units[protocol], protocol };
}
