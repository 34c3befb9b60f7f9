// Before anything is drawn: the light or dark that was chosen; the system's, if none was.
try {
  const theme = localStorage.getItem("tuplet-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: the system's will do.
}
