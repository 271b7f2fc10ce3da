import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme, UserConfig } from 'vitepress';
import type { MenuEntry } from '../menu.ts';
import { addDrawings, linkPages } from './markdown-rules.ts';
import { showRememberedTab } from './tabs.ts';

/** Returns the configuration for the pages in a folder, which `assemble` writes. */
export function siteConfig(folder: string, base: string): UserConfig<DefaultTheme.Config> {
  const sidebar = JSON.parse(readFileSync(join(folder, 'sidebar.json'), 'utf8')) as MenuEntry[];
  return {
    srcDir: 'pages',
    base,
    cleanUrls: true,
    metaChunk: true,
    assetsDir: 'docs/assets',
    lang: 'en-US',
    title: 'Unigate',
    titleTemplate: ':title · Unigate',
    description:
      'One base address and one API key for speech, video, music, 3D, images, embeddings and messages.',
    lastUpdated: true,
    ignoreDeadLinks: [/^\/docs\/(openapi|asyncapi)/, /^\/console/],
    head: [
      ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}docs/favicon.svg` }],
      ['meta', { property: 'og:image', content: `${base}docs/social-card.png` }],
      ['meta', { property: 'og:type', content: 'website' }],
      ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
    ],
    markdown: {
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      config: (markdown) => {
        linkPages(markdown, base);
        addDrawings(markdown, join(folder, 'pages/public/docs/drawings'));
      },
    },
    transformHead: ({ title, description }) => [
      ['meta', { property: 'og:title', content: title }],
      ['meta', { property: 'og:description', content: description }],
    ],
    // Before the first paint, so that the page does not move.
    transformHtml: (html: string) =>
      html.replace('</body>', () => `<script>(${showRememberedTab.toString()})()</script></body>`),
    vite: { logLevel: 'warn', build: { chunkSizeWarningLimit: 4000 } },
    themeConfig: {
      logo: { src: '/docs/favicon.svg', alt: '' },
      nav: [
        { text: 'Docs', link: '/docs/', activeMatch: '^/docs/(?!reference|models)' },
        { text: 'API reference', link: '/docs/reference' },
        { text: 'Models', link: '/docs/models/', activeMatch: '^/docs/models' },
        { text: 'Console', link: '/console', target: '_self' },
      ],
      sidebar: { '/docs/': sidebar },
      outline: { level: [2, 3], label: 'On this page' },
      externalLinkIcon: true,
      lastUpdated: { text: 'Last edited', formatOptions: { dateStyle: 'medium' } },
      search: {
        provider: 'local',
        options: {
          detailedView: false,
        },
      },
    },
  };
}
