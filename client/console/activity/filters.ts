import { replaceQuery, route } from '../shell/router.ts';

export const views = ['All', 'Calls', 'Tasks'] as const;
export type View = (typeof views)[number];

/** The filters and the opened item. They are part of the address, so that it can be shared. */
export interface Filters {
  view: View;
  search: string;
  model: string;
  state: string;
  /** Length of the range in hours, until now. Empty for all times. */
  hours: string;
  /** Id of a key, for admins. */
  token: string;
  /** Whether the tasks of all users are listed, for admins. */
  all: string;
  task: string;
  request: string;
}

/** Returns the filters in the address. Reads a signal, so that components follow it. */
export function useFilters(): Filters {
  const { query } = route.value;
  const get = (name: string) => query.get(name) ?? '';
  return {
    view: views.find((view) => view.toLowerCase() === get('view')) ?? 'All',
    search: get('search'),
    model: get('model'),
    state: get('state'),
    hours: get('hours'),
    token: get('token'),
    all: get('all'),
    task: get('task'),
    request: get('request'),
  };
}

/** Changes filters in the address. */
export function setFilters(change: Partial<Filters>): void {
  const { query } = route.peek();
  const view =
    change.view === undefined ? query.get('view') : change.view === 'All' ? '' : change.view.toLowerCase();
  replaceQuery({ ...Object.fromEntries(query), ...change, view: view ?? '' });
}
