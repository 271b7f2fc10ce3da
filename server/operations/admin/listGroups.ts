import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { success } from '../success.ts';

/** Lists the configured groups by name, then groups that only users or keys name. */
export const listGroups: Handler<'listGroups'> = async ({ gateway, query }, reply) => {
  const { groups } = gateway.settings;
  const counts = new Map((await gateway.store.report('countGroups', null)).map((one) => [one.name, one]));
  const configured = Object.keys(groups).sort();
  const others = [...counts.keys()].filter((name) => !Object.hasOwn(groups, name)).sort();
  const names = [...configured, ...others];
  const { offset, limit } = readPage(query);
  const items = names.slice(offset, offset + limit).map((name) => {
    const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
    const { users, keys } = counts.get(name) ?? { users: 0, keys: 0 };
    return {
      name,
      configured: group !== undefined,
      ...(group !== undefined && { ratio: group.ratio }),
      models: [...(group?.models ?? [])],
      users,
      keys,
    };
  });
  reply.json(200, success({ items, total: names.length }));
};
