import { useRoute } from 'vitepress';
import theme from 'vitepress/theme-without-fonts';
import { defineComponent, h, onMounted, watch } from 'vue';
import '../../../../client/console/tokens.css';
import './style.css';
import './header.css';
import { ApiReference } from './api-reference.ts';
import { leaveReference } from './leave-reference.ts';
import { NotFound } from './not-found.ts';
import { PageActions } from './page-actions.ts';
import { rememberTabs, showRememberedTab } from './tabs.ts';

/** The default layout with the actions of a page above its text. */
const Layout = defineComponent({
  name: 'SiteLayout',
  setup() {
    const route = useRoute();
    onMounted(() => {
      rememberTabs();
      watch(() => route.path, showRememberedTab, { flush: 'post' });
    });
    return () =>
      h(theme.Layout, null, { 'doc-before': () => h(PageActions), 'not-found': () => h(NotFound) });
  },
});

export default {
  extends: theme,
  Layout,
  enhanceApp({ app, router }) {
    app.component('ApiReference', ApiReference);
    leaveReference(router);
  },
} satisfies import('vitepress').Theme;
