import type { Handler } from '../../http/handler.ts';
import { usableModels } from '../models/usable-models.ts';
import { success } from '../success.ts';

/** Lists the prices of the models that the caller's key may use. */
export const listMyPrices: Handler<'listMyPrices'> = async (request, reply) => {
  const { gateway, caller } = request;
  const models = await usableModels(request);
  const { groups } = gateway.settings;
  const group = Object.hasOwn(groups, caller.group) ? groups[caller.group] : undefined;
  const items = models.map(({ id, unit, unit_price, price_rules, group_ratio }) => ({
    model: id,
    unit,
    unit_price,
    ...(price_rules !== undefined && { price_rules }),
    price: unit_price === null ? null : withoutRoundingError(unit_price * group_ratio),
  }));
  reply.json(200, success({ group: { name: caller.group, ratio: group?.ratio ?? null }, items }));
};

/** Removes the error of a multiplication of decimal fractions, such as 3 * 0.1. */
const withoutRoundingError = (value: number) => Number(value.toPrecision(15));
