import { useData, withBase } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

/** The renderer, which `scalar.js` defines. */
interface Renderer {
  createApiReference(element: Element, options: object): void;
}

/** Clients that are not offered. The document has samples of the typed client and of the official SDK. */
const hiddenClients = {
  ...Object.fromEntries(
    'c clojure csharp dart fsharp go http java js julia kotlin node objc ocaml php powershell r ruby rust swift'
      .split(' ')
      .map((language) => [language, true]),
  ),
  shell: ['wget', 'httpie'],
  python: ['python3', 'httpx_sync', 'httpx_async', 'aiohttp'],
};

/** The API reference of both documents, below the header of the site. */
export const ApiReference = defineComponent({
  name: 'ApiReference',
  setup() {
    const element = ref<HTMLElement>();
    const isLoading = ref(true);
    const { isDark, frontmatter } = useData();
    onMounted(async () => {
      const openOperation = () => openNamedOperation(frontmatter.value.operations);
      openOperation();
      window.addEventListener('hashchange', openOperation);
      loadStyle(withBase('/docs/reference.css'));
      // The renderer must not compile code, which the content security policy forbids.
      Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
      await loadScript(withBase('/docs/scalar.js'));
      if (element.value === undefined) return;
      isLoading.value = false;
      const { Scalar: renderer } = globalThis as unknown as { Scalar: Renderer };
      renderer.createApiReference(element.value, options(isDark.value));
      watch(isDark, (dark) => {
        document.body.classList.toggle('dark-mode', dark);
        document.body.classList.toggle('light-mode', !dark);
      });
    });
    return () =>
      h('main', { class: 'api-reference vp-raw' }, [
        isLoading.value
          ? h('p', { class: 'loading' }, [
              'The reference is loading. It requires JavaScript. Without it, read ',
              h('a', { href: withBase('/docs/openapi.json') }, 'openapi.json'),
              ' and ',
              h('a', { href: withBase('/docs/asyncapi.json') }, 'asyncapi.json'),
              '.',
            ])
          : null,
        h('div', { ref: element }),
      ]);
  },
});

const options = (isDark: boolean) => ({
  sources: [
    { title: 'HTTP', slug: 'http', url: withBase('/docs/reference-openapi.json'), default: true },
    { title: 'Events', slug: 'events', url: withBase('/docs/asyncapi.json') },
  ],
  generateOperationSlug: ({ operationId = '' }: { operationId?: string }) => operationId,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  documentDownloadType: 'none',
  // The search of the site finds operations, events, guides and errors together.
  hideSearch: true,
  // No requests to other hosts: no fonts, telemetry, assistant or external editor.
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideDarkModeToggle: true,
  forceDarkModeState: isDark ? 'dark' : 'light',
  hiddenClients,
});

/** Opens the operation that `#operation/<id>` names. `tags` has the tag of each operation. */
function openNamedOperation(tags: Readonly<Record<string, string>>): void {
  const id = /^#operation\/(\w+)$/.exec(location.hash)?.[1] ?? '';
  const tag = tags[id];
  if (tag !== undefined) location.replace(`#http/tag/${tag}/${id}`);
}

function loadStyle(href: string): void {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  document.head.append(link);
}

function loadScript(src: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => reject(new Error(`${src} could not be loaded`)));
    document.head.append(script);
  });
}
