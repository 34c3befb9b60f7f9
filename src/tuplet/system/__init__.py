"""What every long job needs: files that are never half written, settings, progress, a way to stop,
work in blocks on threads or processes, tables and pictures of results.
"""
