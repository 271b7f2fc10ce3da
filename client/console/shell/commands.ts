import {
  BookOpen,
  Box,
  FileCode,
  type IconNode,
  ListTodo,
  LogOut,
  SunMoon,
  TriangleAlert,
  Webhook,
} from 'lucide';
import { errors } from '../../../generated/errors.ts';
import type { Model, MyTask } from '../../index.ts';
import type { Contract } from '../contract/contract.ts';
import { gatewayUrl, signOut } from '../session/session.ts';
import type { Page } from './page.ts';
import { navigate } from './router.ts';
import { toggleTheme } from './theme.ts';

/** An entry of the command palette. */
export interface Command {
  title: string;
  group: string;
  icon: IconNode;
  /** Further words by which it is found. */
  keywords: string;
  run: () => void;
}

const openUrl = (path: string) => () => location.assign(`${gatewayUrl}${path}`);

const actions: readonly Command[] = [
  { title: 'Switch the theme', group: 'Action', icon: SunMoon, keywords: 'dark light', run: toggleTheme },
  { title: 'Documentation', group: 'Link', icon: BookOpen, keywords: 'guides docs', run: openUrl('/docs') },
  {
    title: 'API reference',
    group: 'Link',
    icon: FileCode,
    keywords: 'openapi',
    run: openUrl('/docs/reference'),
  },
  { title: 'Sign out', group: 'Action', icon: LogOut, keywords: 'key', run: () => signOut() },
];

/** Returns the pages and actions, which are shown before the user types. */
export const pageCommands = (pages: readonly Page[]): Command[] => [
  ...pages.map(({ path, title, icon, keywords }) => ({
    title,
    group: 'Page',
    icon,
    keywords,
    run: () => navigate(path),
  })),
  ...actions,
];

const maxFound = 40;

interface Searched {
  pages: readonly Page[];
  models: readonly Model[];
  /** The newest tasks. */
  tasks: readonly MyTask[];
  contract: Contract | undefined;
}

/** Returns the commands that contain all words of a text, the best first. */
export function findCommands(text: string, { pages, models, tasks, contract }: Searched): Command[] {
  const query = text.trim().toLowerCase();
  const words = query.split(/\s+/);
  const all = [
    ...idCommands(query),
    ...pageCommands(pages),
    ...modelCommands(models, pages),
    ...taskCommands(tasks),
    ...operationCommands(contract),
    ...errorCommands(),
  ];
  return all
    .filter(({ title, keywords }) => {
      const searched = `${title} ${keywords}`.toLowerCase();
      return words.every((word) => searched.includes(word));
    })
    .toSorted((left, right) => rankOf(left, query) - rankOf(right, query))
    .slice(0, maxFound);
}

/** 0 for a title that is the text, then one that begins with it, one that contains it, and one with it as a keyword. */
function rankOf({ title }: Command, query: string): number {
  const text = title.toLowerCase();
  return [text === query, text.startsWith(query), text.includes(query), true].indexOf(true);
}

/** A complete id opens its task or its call, also one that is not among the newest. */
function idCommands(query: string): Command[] {
  const kind = /^(task|req)_[0-9a-f]{32}$/.exec(query)?.[1];
  if (kind === undefined) return [];
  const filter = kind === 'task' ? 'task' : 'request';
  return [
    {
      title: query,
      group: kind === 'task' ? 'Task' : 'Call',
      icon: ListTodo,
      keywords: '',
      run: () => navigate('activity', { [filter]: query }),
    },
  ];
}

/** Pages by the protocols of the models that they use. */
const pathsByProtocol: Readonly<Record<string, string>> = {
  synthesizer: 'speech',
  multimodal: 'speech',
  inference: 'speech',
  realtime: 'speech',
  native_video: 'video',
  official: 'video',
  eta: 'video',
  native_3d: '3d',
  sigma: 'music',
  imgjob: 'images',
  embeddings: 'embeddings',
  messages: 'messages',
};

function modelCommands(models: readonly Model[], pages: readonly Page[]): Command[] {
  return models.map(({ id, protocols, owned_by: owner }) => {
    const path = protocols.map((name) => pathsByProtocol[name]).find((name) => name !== undefined);
    const page = pages.find((entry) => entry.path === path);
    return {
      title: id,
      group: 'Model',
      icon: page?.icon ?? Box,
      keywords: `model ${owner} ${page?.title ?? ''}`,
      run: page ? () => navigate(page.path, { model: id }) : openUrl(`/docs/models/${id}`),
    };
  });
}

const taskCommands = (tasks: readonly MyTask[]): Command[] =>
  tasks.map(({ id, model, state, operation }) => ({
    title: id,
    group: `Task, ${state.replace('_', ' ')}`,
    icon: ListTodo,
    keywords: `task ${model} ${state} ${operation}`,
    run: () => navigate('activity', { task: id }),
  }));

function operationCommands(contract: Contract | undefined): Command[] {
  const items = Object.entries(contract?.document.paths ?? {});
  return items.flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, summary }]) =>
      operationId === undefined
        ? []
        : {
            title: operationId,
            group: 'Operation',
            icon: Webhook,
            keywords: `${method} ${path} ${summary ?? ''}`,
            run: openUrl(`/docs/reference#operation/${operationId}`),
          },
    ),
  );
}

const errorCommands = (): Command[] =>
  [...new Set(errors.map(({ code }) => code))].map((code) => ({
    title: code,
    group: 'Error',
    icon: TriangleAlert,
    keywords: 'error code',
    run: openUrl(`/docs/errors#${code}`),
  }));
