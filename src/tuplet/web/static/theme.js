// Set the theme that was chosen before anything is drawn; by default it is the system's.
try {
  const theme = localStorage.getItem("tuplet-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is not allowed: use the system's theme.
}
