(function applyTheme() {
  // Runs before the first paint. The documentation stores the choice under the same name.
  const choice = localStorage.getItem('vitepress-theme-appearance') || 'auto';
  const isDark = choice === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : choice === 'dark';
  document.documentElement.classList.toggle('dark', isDark);
})();
