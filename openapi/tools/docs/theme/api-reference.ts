import { useData, withBase } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

/** The renderer, which `scalar.js` defines. */
interface Scalar {
  createApiReference(element: Element, options: object): { updateConfiguration(options: object): void };
}

/** The API reference of both documents, below the header of the site. */
export const ApiReference = defineComponent({
  name: 'ApiReference',
  setup() {
    const element = ref<HTMLElement>();
    const { isDark } = useData();
    onMounted(async () => {
      loadStyle(withBase('/docs/reference.css'));
      await loadScript(withBase('/docs/scalar.js'));
      if (element.value === undefined) return;
      const { Scalar: scalar } = globalThis as unknown as { Scalar: Scalar };
      const options = () => ({
        sources: [
          { title: 'HTTP', slug: 'http', url: withBase('/docs/openapi.json'), default: true },
          { title: 'Events', slug: 'events', url: withBase('/docs/asyncapi.json') },
        ],
        // No requests to other hosts: no fonts, telemetry, assistant or external editor.
        withDefaultFonts: false,
        telemetry: false,
        showDeveloperTools: 'never',
        hideClientButton: true,
        agent: { disabled: true },
        mcp: { disabled: true },
        hideDarkModeToggle: true,
        forceDarkModeState: isDark.value ? 'dark' : 'light',
      });
      const reference = scalar.createApiReference(element.value, options());
      watch(isDark, () => reference.updateConfiguration(options()));
    });
    return () =>
      h('div', { class: 'api-reference vp-raw' }, [
        h('div', { ref: element }, [
          h('p', { class: 'loading' }, [
            'The reference is loading. It requires JavaScript. Without it, read ',
            h('a', { href: withBase('/docs/openapi.json') }, 'openapi.json'),
            ' and ',
            h('a', { href: withBase('/docs/asyncapi.json') }, 'asyncapi.json'),
            '.',
          ]),
        ]),
      ]);
  },
});

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
