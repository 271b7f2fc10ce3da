import {
  Activity,
  AudioLines,
  Box,
  ChartColumn,
  Clapperboard,
  FileCheck,
  House,
  type IconNode,
  Images,
  KeyRound,
  MessagesSquare,
  MicVocal,
  Music,
  Network,
  Users,
  Waypoints,
} from 'lucide';
import type { ComponentType } from 'preact';

/** A page of the console. */
export interface Page {
  /** Path in the address: `#/<path>`. */
  path: string;
  title: string;
  /** Section of the sidebar. */
  group: 'Start' | 'Playground' | 'Monitor' | 'Manage' | 'Contract';
  icon: IconNode;
  /** Purpose of the page in a few words. */
  summary: string;
  /** Further words that the command palette finds. */
  keywords: string;
  /** Whether only keys with the scope of an operator see the page. */
  admin?: true;
  load: () => Promise<{ default: ComponentType }>;
}

/** All pages, in the order of the sidebar. */
const pages: readonly Page[] = [
  {
    path: '',
    title: 'Overview',
    group: 'Start',
    icon: House,
    summary: 'The pages and your key.',
    keywords: 'home start key',
    load: () => import('./overview/overview-page.tsx'),
  },
  {
    path: 'speech',
    title: 'Speech',
    group: 'Playground',
    icon: AudioLines,
    summary: 'Turn text into speech.',
    keywords: 'text to speech tts audio stream realtime compare voices',
    load: () => import('./speech/speech-page.tsx'),
  },
  {
    path: 'voices',
    title: 'Voices',
    group: 'Playground',
    icon: MicVocal,
    summary: 'Clone, design and hear voices of your own.',
    keywords: 'clone design record microphone custom voice',
    load: () => import('./voices/voices-page.tsx'),
  },
  {
    path: 'video',
    title: 'Video',
    group: 'Playground',
    icon: Clapperboard,
    summary: 'Films from a text, images, clips and audio.',
    keywords: 'film clip gamma seedance eta frames',
    load: () => import('./video/video-page.tsx'),
  },
  {
    path: '3d',
    title: '3D',
    group: 'Playground',
    icon: Box,
    summary: 'Objects from a text or images.',
    keywords: 'model mesh glb theta object viewer',
    load: () => import('./models3d/models3d-page.tsx'),
  },
  {
    path: 'music',
    title: 'Music',
    group: 'Playground',
    icon: Music,
    summary: 'Songs with lyrics, continuations and stems.',
    keywords: 'song lyrics sound stems vocals continue',
    load: () => import('./music/music-page.tsx'),
  },
  {
    path: 'images',
    title: 'Images',
    group: 'Playground',
    icon: Images,
    summary: 'Grids from a prompt, and their buttons.',
    keywords: 'picture imagine upscale vary inpaint mask',
    load: () => import('./images/images-page.tsx'),
  },
  {
    path: 'embeddings',
    title: 'Embeddings',
    group: 'Playground',
    icon: Waypoints,
    summary: 'Convert texts to vectors and compare them.',
    keywords: 'vectors similarity heat map cosine',
    load: () => import('./embeddings/embeddings-page.tsx'),
  },
  {
    path: 'messages',
    title: 'Messages',
    group: 'Playground',
    icon: MessagesSquare,
    summary: 'Chat with a model, with tools and images.',
    keywords: 'chat text llm tools stream',
    load: () => import('./messages/messages-page.tsx'),
  },
  {
    path: 'activity',
    title: 'Activity',
    group: 'Monitor',
    icon: Activity,
    summary: 'Calls and tasks, live.',
    keywords: 'log requests history tasks timeline callbacks deliveries cancel',
    load: () => import('./activity/activity-page.tsx'),
  },
  {
    path: 'usage',
    title: 'Usage',
    group: 'Monitor',
    icon: ChartColumn,
    summary: 'Calls, quota and failures over time.',
    keywords: 'figures charts statistics cost balance quota latency errors',
    load: () => import('./usage/usage-page.tsx'),
  },
  {
    path: 'keys',
    title: 'Keys',
    group: 'Manage',
    icon: KeyRound,
    summary: 'Create, limit and revoke keys.',
    keywords: 'tokens api secret quota limits create revoke grant',
    load: () => import('./keys/keys-page.tsx'),
  },
  {
    path: 'users',
    title: 'Users',
    group: 'Manage',
    icon: Users,
    summary: 'Create, change and disable users.',
    keywords: 'customers accounts groups roles',
    admin: true,
    load: () => import('./users/users-page.tsx'),
  },
  {
    path: 'channels',
    title: 'Channels',
    group: 'Manage',
    icon: Network,
    summary: 'Health and tests of providers.',
    keywords: 'providers health latency failures reload configuration',
    admin: true,
    load: () => import('./channels/channels-page.tsx'),
  },
  {
    path: 'contract',
    title: 'Contract',
    group: 'Contract',
    icon: FileCheck,
    summary: 'Operations, decisions and errors.',
    keywords: 'openapi operations decisions errors codes',
    load: () => import('./contract-page/contract-page.tsx'),
  },
];

/** Returns the pages that a key may see. */
export const pagesFor = (isAdmin: boolean): readonly Page[] =>
  pages.filter(({ admin }) => admin === undefined || isAdmin);
