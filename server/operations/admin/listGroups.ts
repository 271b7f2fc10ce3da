import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';

/** The groups of the configuration by name, and then those that are only named still. */
export const listGroups: Handler<'listGroups'> = async ({ gateway, query }, reply) => {
  const { groups } = gateway.settings;
  const counts = new Map((await gateway.store.report('countGroups', null)).map((one) => [one.name, one]));
  const configured = Object.keys(groups).sort();
  const others = [...counts.keys()].filter((name) => !Object.hasOwn(groups, name)).sort();
  const { offset, limit } = readPage(query);
  const items = [...configured, ...others].slice(offset, offset + limit).map((name) => {
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
  const total = configured.length + others.length;
  reply.json(200, { success: true, message: '', data: { items, total } });
};
